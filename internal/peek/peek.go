// Package peek reads the name of what a connection carries out of its first bytes:
// the stream of an RTMP client's commands, the request line of HTTP and RTSP. It
// keeps the name and nothing else.
package peek

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"snag/internal/amf"
)

// most bytes of a name are kept.
const most = 200

// Conn is what is known of one connection. The zero value knows nothing.
type Conn struct {
	app  string
	name string
	verb string
}

// Name is what the connection carries ("RTMP publish live/cam1", "GET /x HTTP/1.1");
// "" where it is not known.
func (c *Conn) Name() string {
	switch {
	case c.verb == "":
		return ""
	case c.name == "":
		return strings.TrimSpace(c.verb + " " + c.app)
	case c.app == "":
		return c.verb + " " + c.name
	}
	return c.verb + " " + c.app + "/" + c.name
}

// Learn reads bytes that the client sent and reports whether the name is another now.
// offset is how many it had sent before; beyond the first, bytes may begin anywhere.
func (c *Conn) Learn(offset uint64, b []byte) (changed bool) {
	was := c.Name()
	if offset == 0 {
		if line, ok := requestLine(b); ok {
			c.verb, c.app, c.name = line, "", ""
			return c.Name() != was
		}
	}
	for len(b) > 0 {
		at, verb := command(b)
		if at < 0 {
			break
		}
		c.obey(verb, b[at:])
		b = b[at+3+len(verb):]
	}
	return c.Name() != was
}

// The commands that name something (RTMP 1.0, section 7.2; releaseStream and
// FCPublish are what encoders send before publish).
var commands = []string{"connect", "publish", "play", "releaseStream", "FCPublish", "createStream"}

// command finds the first command in b: an AMF0 string, which is 2, its length in
// two bytes, and its text.
func command(b []byte) (at int, verb string) {
	at = -1
	for _, v := range commands {
		mark := append([]byte{2, 0, byte(len(v))}, v...)
		if i := bytes.Index(b, mark); i >= 0 && (at < 0 || i < at) {
			at, verb = i, v
		}
	}
	return at, verb
}

// obey takes the command at the front of b, as much of it as is there.
func (c *Conn) obey(verb string, b []byte) {
	values, _ := amf.Decode(b) // with an error come the values before it
	switch verb {
	case "connect":
		c.verb = "RTMP"
		if app, ok := property(b, "app"); ok {
			c.app = clean(strings.Trim(app, "/"))
		}
	case "createStream":
		if c.verb == "" {
			c.verb = "RTMP"
		}
	default:
		name := ""
		if len(values) > 3 {
			name, _ = values[3].(string)
		} else if len(values) == 3 {
			name = cutString(b, 3+len(verb)+9+1) // a number and a null come between
		}
		if name == "" {
			return
		}
		if verb != "play" {
			verb = "publish"
		}
		c.verb, c.name = "RTMP "+verb, clean(name)
	}
}

// property finds a text in an object that may be cut off: its name with two bytes
// of length before it, then an AMF0 string.
func property(b []byte, name string) (string, bool) {
	mark := append([]byte{0, byte(len(name))}, name...)
	i := bytes.Index(b, append(mark, 2))
	if i < 0 {
		return "", false
	}
	s := cutString(b, i+len(mark))
	return s, s != ""
}

// cutString reads the AMF0 string at b[at], with … where its end is missing.
func cutString(b []byte, at int) string {
	if at < 0 || len(b) < at+3 || b[at] != 2 {
		return ""
	}
	n, text := int(b[at+1])<<8|int(b[at+2]), b[at+3:]
	if len(text) >= n {
		return string(text[:n])
	}
	return string(text) + "…"
}

// clean makes a name fit to be shown: without query, in which keys are carried,
// without what is no text, and not too long.
func clean(name string) string {
	cut := strings.HasSuffix(name, "…")
	name, _, query := strings.Cut(name, "?")
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, name)
	if len(name) > most {
		name, cut = strings.ToValidUTF8(name[:most], ""), true
	}
	if cut && !query && !strings.HasSuffix(name, "…") {
		name += "…"
	}
	return name
}
