package watch

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"syscall"

	"snag/probes/streams/gb28181"
)

const maxCredentials = 64 << 10 // bytes of the file

// Credentials are what servers are asked with for their lists, by server. They are
// shown nowhere.
type Credentials struct{ of map[string]credential }

// credential is a user's name and password, or a token of bearer authentication.
type credential struct {
	user  *url.Userinfo
	token string
}

// String says nothing of them, whoever prints them.
func (*Credentials) String() string { return "credentials" }

// ReadCredentials reads a file of credentials, a server a line. It must not be open to
// others, as ssh has it of keys.
func ReadCredentials(path string) (*Credentials, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not hold the watch up
	if err != nil {
		return nil, fmt.Errorf("read the credentials: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the credentials: %w", err)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("read the credentials: %s is not a regular file", path)
	case st.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("read the credentials: %s is open to other users (mode %04o): chmod 600 %s", path, st.Mode().Perm(), path)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxCredentials+1))
	if err != nil {
		return nil, fmt.Errorf("read the credentials: %w", err)
	}
	if len(b) > maxCredentials {
		return nil, fmt.Errorf("read the credentials: %s has more than %d KiB: is it the right file?", path, maxCredentials>>10)
	}
	return parseCredentials(path, string(b))
}

// parseCredentials reads HOST[:PORT] user=… password=…, or HOST[:PORT] token=…, in the
// words of a list's line. An error quotes nothing of a line: a part of it may be a password.
func parseCredentials(file, text string) (*Credentials, error) {
	c := &Credentials{of: map[string]credential{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		words, err := wordsAndComment(line)
		if err == nil && len(words) > 0 {
			err = c.add(words)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return c, nil
}

func (c *Credentials) add(words []string) error {
	server := strings.ToLower(words[0])
	if u, err := url.Parse("//" + server); err != nil || u.Host != server || u.Hostname() == "" {
		return errors.New("a line begins with the server as HOST or HOST:PORT, without http:// and without a path")
	}
	if _, there := c.of[server]; there {
		return errors.New("this server has a line already")
	}
	f := map[string]string{}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		if _, there := f[key]; !ok || there || value == "" || key != "user" && key != "password" && key != "token" {
			return errors.New("after the server come user=NAME and password=…, or token=…, each once; what has a blank or a # in it stands in quotes")
		}
		f[key] = value
	}
	user, token := f["user"], f["token"]
	switch {
	case token != "" && len(f) == 1:
		if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return errors.New("the token has a character that no token has")
		}
		c.of[server] = credential{token: token}
	case token == "" && user != "":
		c.of[server] = credential{user: url.UserPassword(user, f["password"])}
	default:
		return errors.New("a line has user= and password=, or token= alone")
	}
	return nil
}

// forServer finds what a server is asked with: its line with the port before one without.
func (c *Credentials) forServer(u *url.URL) (credential, bool) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", gb28181.Scheme: gb28181.Port}[u.Scheme]
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	for _, server := range []string{host + ":" + port, host} {
		if found, ok := c.of[server]; ok {
			return found, true
		}
	}
	return credential{}, false
}

// With asks with the credentials that there are for the server. A user in the URL holds.
func (d *Discovery) With(c *Credentials) {
	if found, ok := c.forServer(d.api); ok && d.web.user == nil {
		d.web.user, d.web.token = found.user, found.token
	}
}
