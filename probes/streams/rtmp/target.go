package rtmp

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// target is what a URL asks for.
type target struct {
	host, port string // host without brackets
	tls        bool
	app        string // what connect asks for
	name       string // what play asks for, with the URL's query: servers authorise by it
	tcURL      string
	user, pass string
	shown      string // for people: no credentials, no values of the query
	secrets    []string
}

// maxURL bounds what is sent: a command's string has a 16-bit length.
const maxURL = 8 << 10

// parse splits a URL as ffmpeg does (libavformat/rtmpproto.c): rtmp://host/app/name,
// and rtmp://host/app/instance/name with an application of two parts. Servers that
// know deeper paths join the two again.
func parse(u *url.URL) (target, error) {
	t := target{host: u.Hostname(), port: u.Port(), tls: u.Scheme == "rtmps"}
	t.shown = shown(u)
	wrong := func(why string) (target, error) {
		return t, fmt.Errorf("read %s: %s: the form is rtmp://host[:1935]/app/name", t.shown, why)
	}
	if u.Scheme != "rtmp" && u.Scheme != "rtmps" {
		return wrong("not an RTMP URL")
	}
	if t.host == "" {
		return wrong("no host")
	}
	if len(u.String()) > maxURL {
		return wrong("longer than 8192 bytes")
	}
	port := ""
	if t.port != "" {
		port = ":" + t.port
	} else if t.port = "1935"; t.tls {
		t.port = "443"
	}
	t.user = u.User.Username()
	t.pass, _ = u.User.Password()
	path, query := strings.TrimPrefix(typed(u), "/"), u.RawQuery
	if i := strings.LastIndexByte(query, '/'); i >= 0 && !strings.Contains(path, "/") {
		// rtmp://host/app?token=…/name: the application has the query
		t.app, t.name = path+"?"+query[:i], query[i+1:]
	} else {
		t.app, t.name = split(path)
		if query != "" {
			t.name += "?" + query
		}
	}
	if t.app == "" && t.name == "" {
		return wrong("no application and no stream")
	}
	host := t.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	t.tcURL = u.Scheme + "://" + host + port + "/" + t.app
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

func (t target) address() string { return net.JoinHostPort(t.host, t.port) }

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

// clean makes a server's words fit to print: one line, bounded, no secrets.
func (t target) clean(s string) string {
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
