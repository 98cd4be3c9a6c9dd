package pcap

import (
	"bytes"
	"strconv"
	"strings"
)

// sipMessage is what calls need of a SIP message (RFC 3261, 7).
type sipMessage struct {
	method string // of a request; "" of a response
	code   int    // of a response, 100 to 699
	callID string
	of     string // the method in its CSeq: what a response is to
	body   []byte
}

// readSIP reads a message as far as it goes: the snap length may have cut it. ok: its start line, its Call-ID and its
// CSeq are in it whole. The body is that of its Content-Length, or, of a datagram without one, all that follows (18.3).
func readSIP(b []byte) (m sipMessage, ok bool) {
	line, rest, whole := bytes.Cut(b, []byte("\r\n"))
	if !whole || !m.start(string(line)) {
		return m, false
	}
	length := len(b)
	for {
		var field string
		if field, rest, whole = nextField(rest); !whole {
			break
		}
		if field == "" {
			m.body = rest[:min(length, len(rest))]
			break
		}
		name, value, _ := strings.Cut(field, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "call-id", "i": // short forms: 7.3.3. Of several fields the first counts
			if m.callID == "" {
				m.callID = value
			}
		case "cseq":
			if m.of == "" {
				m.of = methodOf(value)
			}
		case "content-length", "l":
			if n, err := strconv.ParseUint(value, 10, 31); err == nil {
				length = int(n)
			}
		}
	}
	return m, m.callID != "" && m.of != ""
}

// start reads the first line: "INVITE sip:b@10.0.0.1 SIP/2.0", or "SIP/2.0 180 Ringing".
func (m *sipMessage) start(line string) bool {
	first, rest, ok := strings.Cut(line, " ")
	if !ok {
		return false
	}
	if first == "SIP/2.0" {
		code, _, _ := strings.Cut(rest, " ") // the reason may be empty
		n, err := strconv.Atoi(code)
		m.code = n
		return err == nil && n >= 100 && n <= 699
	}
	m.method = first
	return first != "" && strings.HasSuffix(rest, " SIP/2.0")
}

// nextField cuts a field off, with the lines that it is folded onto (7.3.1); not ok: its end is missing.
func nextField(b []byte) (field string, rest []byte, ok bool) {
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	field = string(line)
	for ok && field != "" && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
		line, rest, ok = bytes.Cut(rest, []byte("\r\n"))
		field += " " + string(bytes.TrimSpace(line))
	}
	return field, rest, ok
}

// methodOf is the method of a CSeq, "1 INVITE" (20.16); "": it is none.
func methodOf(cseq string) string {
	parts := strings.Fields(cseq)
	if len(parts) != 2 {
		return ""
	}
	if _, err := strconv.ParseUint(parts[0], 10, 32); err != nil {
		return ""
	}
	return parts[1]
}
