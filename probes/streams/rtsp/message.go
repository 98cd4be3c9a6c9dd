package rtsp

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Bounds of one message, bytes.
const (
	maxHeader = 16 << 10
	maxBody   = 64 << 10
	maxFields = 100
)

// errMore is a message of which not all came yet.
var errMore = errors.New("more is needed")

// message is an answer, a request of the server's, or an interleaved packet
// (RFC 2326 10.12).
type message struct {
	interleaved bool
	channel     uint8

	status int // of an answer; 0 is a request
	reason string
	method string // of a request
	uri    string
	fields []field

	body []byte // or the packet; good until the next read
}

type field struct{ name, value string }

// get returns the first field of a name.
func (m *message) get(name string) string {
	for _, f := range m.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

// all returns every field of a name: WWW-Authenticate comes once for each way.
func (m *message) all(name string) (out []string) {
	for _, f := range m.fields {
		if strings.EqualFold(f.name, name) {
			out = append(out, f.value)
		}
	}
	return out
}

// packet cuts an interleaved packet from the front of b. It returns errMore when b
// ends before it does; ok is false when b begins with something else.
func packet(b []byte) (channel uint8, body []byte, n int, ok bool, err error) {
	if len(b) == 0 {
		return 0, nil, 0, false, errMore
	}
	if b[0] != '$' {
		return 0, nil, 0, false, nil
	}
	if len(b) < 4 {
		return 0, nil, 0, true, errMore
	}
	n = 4 + int(b[2])<<8 + int(b[3])
	if len(b) < n {
		return 0, nil, 0, true, errMore
	}
	return b[1], b[4:n], n, true, nil
}

// parse cuts one message from the front of b: n is its length. errMore says that b
// is the front of one; any other error that it is none, or too long.
func parse(b []byte) (m message, n int, err error) {
	// Some servers put an empty line between messages.
	skip := 0
	for skip < len(b) && skip < 8 && (b[skip] == '\r' || b[skip] == '\n') {
		skip++
	}
	channel, body, n, ok, err := packet(b[skip:])
	if ok || err != nil {
		return message{interleaved: true, channel: channel, body: body}, skip + n, err
	}
	rest := b[skip:]
	if err := speaks(rest); err != nil {
		return m, 0, err
	}
	head, bodyAt := split(rest)
	if bodyAt < 0 {
		if len(rest) > maxHeader {
			return m, 0, fmt.Errorf("its header is longer than %d bytes", maxHeader)
		}
		return m, 0, errMore
	}
	if bodyAt > maxHeader {
		return m, 0, fmt.Errorf("its header is longer than %d bytes", maxHeader)
	}
	if err := m.readHead(string(head)); err != nil {
		return m, 0, err
	}
	length := 0
	if v := m.get("Content-Length"); v != "" {
		length, err = strconv.Atoi(v)
		if err != nil || length < 0 || length > maxBody {
			return m, 0, fmt.Errorf("its Content-Length is %s, beyond 0 to %d", short(v), maxBody)
		}
	}
	end := bodyAt + length
	if len(rest) < end {
		return m, 0, errMore
	}
	m.body = rest[bodyAt:end]
	return m, skip + end, nil
}

// split finds the empty line after the header; bare line feeds are taken too.
func split(b []byte) (head []byte, bodyAt int) {
	b = b[:min(len(b), maxHeader+4)]
	crlf, lf := bytes.Index(b, []byte("\r\n\r\n")), bytes.Index(b, []byte("\n\n"))
	switch {
	case crlf >= 0 && (lf < 0 || crlf < lf):
		return b[:crlf], crlf + 4
	case lf >= 0:
		return b[:lf], lf + 2
	}
	return nil, -1
}

// speaks tells early what does not speak RTSP: an answer begins with RTSP/, a
// request with a word of capitals.
func speaks(b []byte) error {
	const begin = "RTSP/"
	n := min(len(b), len(begin))
	if string(b[:n]) == begin[:n] {
		return nil
	}
	if bytes.HasPrefix(b, []byte("HTTP/")) {
		line, _, _ := bytes.Cut(b[:min(len(b), 80)], []byte("\r\n"))
		return fmt.Errorf("it speaks HTTP, not RTSP: %q (is this the port of its web page?)", line)
	}
	for i, c := range b[:min(len(b), 16)] {
		switch {
		case c >= 'A' && c <= 'Z' || c == '_':
		case c == ' ' && i >= 3:
			return nil
		default:
			return fmt.Errorf("it does not speak RTSP: it begins with %q", b[:min(len(b), 16)])
		}
	}
	if len(b) >= 16 {
		return fmt.Errorf("it does not speak RTSP: it begins with %q", b[:16])
	}
	return nil
}

func (m *message) readHead(head string) error {
	lines := strings.Split(strings.ReplaceAll(head, "\r\n", "\n"), "\n")
	if len(lines) > maxFields {
		return fmt.Errorf("its header has %d fields, more than %d", len(lines)-1, maxFields)
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(lines[0]), " ")
	if strings.HasPrefix(first, "RTSP/") {
		code, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		status, err := strconv.Atoi(code)
		if err != nil || status < 100 || status > 999 {
			return fmt.Errorf("its status is %s", short(code))
		}
		m.status, m.reason = status, short(reason)
	} else {
		m.method = short(first)
		m.uri, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
	}
	for _, line := range lines[1:] {
		if line == "" {
			continue
		}
		if (line[0] == ' ' || line[0] == '\t') && len(m.fields) > 0 { // folded (RFC 2068 2.2)
			last := &m.fields[len(m.fields)-1]
			last.value += " " + strings.TrimSpace(line)
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue // odd, and harmless
		}
		m.fields = append(m.fields, field{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	return nil
}

// short is a server's text as it may stand in an error: one line, 100 characters.
func short(s string) string {
	out := make([]rune, 0, min(len(s), 100))
	for _, r := range s {
		if len(out) == 100 {
			break
		}
		if r < ' ' || r == 0x7f || r == 0xfffd || r >= 0x80 && r < 0xa0 {
			r = '?'
		}
		out = append(out, r)
	}
	return string(out)
}
