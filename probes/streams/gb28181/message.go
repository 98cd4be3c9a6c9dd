package gb28181

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// message is a request or a response (RFC 3261 7).
type message struct {
	method, uri string // of a request
	status      int    // of a response
	reason      string
	fields      []field
	body        []byte
}

type field struct{ name, value string }

// compact are the short forms of names (7.3.3).
var compact = map[string]string{"v": "Via", "f": "From", "t": "To", "i": "Call-ID", "m": "Contact", "l": "Content-Length", "c": "Content-Type"}

func (m *message) get(name string) string {
	for _, f := range m.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

func (m *message) all(name string) (out []string) {
	for _, f := range m.fields {
		if strings.EqualFold(f.name, name) {
			out = append(out, f.value)
		}
	}
	return out
}

func (m *message) add(name, value string) {
	m.fields = append(m.fields, field{name, value})
}

// take returns the first field of a name, and takes all of it out.
func (m *message) take(name string) string {
	value := m.get(name)
	m.fields = slices.DeleteFunc(m.fields, func(f field) bool { return strings.EqualFold(f.name, name) })
	return value
}

// set changes a field that is there.
func (m *message) set(name, value string) {
	for i := range m.fields {
		if m.fields[i].name == name {
			m.fields[i].value = value
		}
	}
}

// bytes writes it. Its length is the last field.
func (m *message) bytes() []byte {
	var b bytes.Buffer
	if m.status > 0 {
		fmt.Fprintf(&b, "SIP/2.0 %d %s\r\n", m.status, m.reason)
	} else {
		fmt.Fprintf(&b, "%s %s SIP/2.0\r\n", m.method, m.uri)
	}
	for _, f := range m.fields {
		fmt.Fprintf(&b, "%s: %s\r\n", f.name, f.value)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(m.body))
	b.Write(m.body)
	return b.Bytes()
}
