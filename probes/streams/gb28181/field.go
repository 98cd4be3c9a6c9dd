package gb28181

import "strings"

// parameter finds ;name=value in a field, outside of <…>.
func parameter(value, name string) string {
	if i := strings.LastIndexByte(value, '>'); i >= 0 {
		value = value[i+1:]
	}
	for part := range strings.SplitSeq(value, ";") {
		key, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		if strings.EqualFold(key, name) {
			return strings.Trim(v, `"`)
		}
	}
	return ""
}

// uriOf is the address in a Contact, From or To: "cam" <sip:1@host>;tag=2.
func uriOf(value string) string {
	if _, after, ok := strings.Cut(value, "<"); ok {
		uri, _, _ := strings.Cut(after, ">")
		return strings.TrimSpace(uri)
	}
	uri, _, _ := strings.Cut(value, ";")
	return strings.TrimSpace(uri)
}

// topVia is the first hop of a request or response: its Via may hold several.
func topVia(m *message) string {
	first, _, _ := strings.Cut(m.get("Via"), ",")
	return first
}

func branchOf(m *message) string { return parameter(topVia(m), "branch") }

// callKey tells the requests of all calls apart: a response has its request's.
func callKey(m *message) string { return m.get("Call-ID") + " " + m.get("CSeq") }

// seqOf is the number of a message's CSeq.
func seqOf(m *message) string {
	n, _, _ := strings.Cut(m.get("CSeq"), " ")
	return n
}
