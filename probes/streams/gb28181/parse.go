package gb28181

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// Bounds of one message, bytes.
const (
	maxHeader = 16 << 10
	maxBody   = 1 << 20
	maxFields = 100
)

var (
	errMore = errors.New("more is needed") // of a message not all came yet
	errSIP  = errors.New("what came is not a SIP message")
)

// parse cuts one message from the front of b; n is how much of b is done with. A
// datagram's may lack its length (18.3): then all is its body.
func parse(b []byte, datagram bool) (m *message, n int, err error) {
	for n < len(b) && (b[n] == '\r' || b[n] == '\n') { // between messages; alone it keeps a NAT's port open
		n++
	}
	rest := b[n:]
	end := bytes.Index(rest, []byte("\r\n\r\n"))
	switch {
	case end < 0 && len(rest) > maxHeader, end > maxHeader:
		return nil, n, errSIP
	case end < 0:
		return nil, n, errMore
	}
	m, err = head(string(rest[:end]))
	if err != nil {
		return nil, n, err
	}
	rest = rest[end+4:]
	length := len(rest)
	if text := m.take("Content-Length"); text != "" || !datagram {
		if length, err = strconv.Atoi(text); err != nil || length < 0 || length > maxBody {
			return nil, n, errSIP
		}
	}
	if length > len(rest) {
		return nil, n, errMore
	}
	m.body = bytes.Clone(rest[:length])
	return m, n + end + 4 + length, nil
}

// head reads the start line and the fields.
func head(text string) (*message, error) {
	lines := strings.Split(text, "\r\n")
	m := &message{}
	first := strings.SplitN(plain(lines[0]), " ", 3)
	if len(first) < 3 && (len(first) < 2 || first[0] != "SIP/2.0") {
		return nil, errSIP
	}
	switch {
	case first[0] == "SIP/2.0":
		status, err := strconv.Atoi(first[1])
		if err != nil || status < 100 || status > 699 {
			return nil, errSIP
		}
		m.status, m.reason = status, strings.Join(first[2:], "")
	case isToken(first[0]) && first[1] != "" && first[2] == "SIP/2.0":
		m.method, m.uri = first[0], first[1]
	default:
		return nil, errSIP
	}
	for _, line := range lines[1:] {
		if last := len(m.fields) - 1; last >= 0 && strings.IndexAny(line, " \t") == 0 { // a folded line
			m.fields[last].value += " " + strings.TrimSpace(plain(line))
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if !ok || !isToken(name) || len(m.fields) == maxFields {
			return nil, errSIP
		}
		if long, is := compact[strings.ToLower(name)]; is {
			name = long
		}
		m.add(name, strings.TrimSpace(plain(value)))
	}
	return m, nil
}

// isToken tells a name or a method (RFC 3261 25.1).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r) })
}

// plain takes control characters out: what a peer sent is sent back in responses, and
// shown to a person.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
