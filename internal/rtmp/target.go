package rtmp

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Target is what a URL asks for.
type Target struct {
	Host, Port string // Host without brackets
	TLS        bool
	App        string // what connect asks for
	Name       string // what play asks for, with the URL's query: servers authorise by it
	TCURL      string
	User, Pass string
	Shown      string // for people: no credentials, no values of the query
	secrets    []string
}

// maxURL bounds what is sent: a command's string has a 16-bit length.
const maxURL = 8 << 10

// ParseTarget splits a URL as ffmpeg does (libavformat/rtmpproto.c): rtmp://host/app/name,
// and rtmp://host/app/instance/name with an application of two parts. Servers that
// know deeper paths join the two again.
func ParseTarget(u *url.URL) (Target, error) {
	t := Target{Host: u.Hostname(), Port: u.Port(), TLS: u.Scheme == "rtmps"}
	t.Shown = shown(u)
	wrong := func(why string) (Target, error) {
		return t, fmt.Errorf("%s: %s: the form is rtmp://host[:1935]/app/name", t.Shown, why)
	}
	if u.Scheme != "rtmp" && u.Scheme != "rtmps" {
		return wrong("not an RTMP URL")
	}
	if t.Host == "" {
		return wrong("no host")
	}
	if len(u.String()) > maxURL {
		return wrong("longer than 8192 bytes")
	}
	port := ""
	if t.Port != "" {
		port = ":" + t.Port
	} else if t.Port = "1935"; t.TLS {
		t.Port = "443"
	}
	t.User = u.User.Username()
	t.Pass, _ = u.User.Password()
	path, query := strings.TrimPrefix(typed(u), "/"), u.RawQuery
	if i := strings.LastIndexByte(query, '/'); i >= 0 && !strings.Contains(path, "/") {
		// rtmp://host/app?token=…/name: the application has the query
		t.App, t.Name = path+"?"+query[:i], query[i+1:]
	} else {
		t.App, t.Name = split(path)
		if query != "" {
			t.Name += "?" + query
		}
	}
	if t.App == "" && t.Name == "" {
		return wrong("no application and no stream")
	}
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	t.TCURL = u.Scheme + "://" + host + port + "/" + t.App
	t.secrets = secrets(u)
	return t, nil
}

// typed is the path as it was written: no player decodes %20 for the server, and
// servers compare names as they come.
func typed(u *url.URL) string {
	if u.RawPath != "" {
		return u.RawPath
	}
	return u.EscapedPath()
}

func split(path string) (app, name string) {
	first, rest, ok := strings.Cut(path, "/")
	if !ok {
		return "", path
	}
	instance, deeper, ok := strings.Cut(rest, "/")
	if !ok || strings.Contains(instance, ":") { // "mp4:folder/file" is a name
		return first, rest
	}
	return first + "/" + instance, deeper
}

// Address is host:port to dial.
func (t Target) Address() string { return net.JoinHostPort(t.Host, t.Port) }

// shown is the URL as people may see it: who may watch is often in the query.
func shown(u *url.URL) string {
	s := u.Scheme + "://" + u.Host + u.EscapedPath()
	sep := "?"
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if pair == "" {
			continue
		}
		name, _, has := strings.Cut(pair, "=")
		if !has {
			name = "…" // may be a token alone
		} else {
			name += "=…"
		}
		s, sep = s+sep+name, "&"
	}
	return s
}

// secrets are what a server may repeat in its words and snag must not.
func secrets(u *url.URL) []string {
	var out []string
	if pass, ok := u.User.Password(); ok && pass != "" {
		out = append(out, pass)
	}
	if u.RawQuery != "" {
		out = append(out, u.RawQuery)
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if _, value, ok := strings.Cut(pair, "="); ok && len(value) > 3 {
			out = append(out, value)
			if plain, err := url.QueryUnescape(value); err == nil && plain != value {
				out = append(out, plain)
			}
		}
	}
	return out
}

// Clean makes a server's words fit to print: one line, bounded, no secrets.
func (t Target) Clean(s string) string {
	for _, secret := range t.secrets {
		s = strings.ReplaceAll(s, secret, "…")
	}
	const longest = 200
	out := make([]rune, 0, min(len(s), longest))
	for _, r := range s {
		if len(out) == longest {
			out = append(out, '…')
			break
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			r = ' '
		}
		out = append(out, r)
	}
	return strings.TrimSpace(string(out))
}
