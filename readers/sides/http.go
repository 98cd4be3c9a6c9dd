package sides

import (
	"bytes"
	"strconv"
	"strings"
)

// longestName of a request, bytes.
const longestName = 80

var methods = []string{"GET ", "POST ", "PUT ", "HEAD ", "DELETE ", "PATCH ", "OPTIONS ", "CONNECT ", "TRACE "}

// requestName is the method and the path of an HTTP/1 request (RFC 9112, 3), without
// its query, which may hold what is nobody's business; "" for anything else. more is
// how many requests begin in the payload.
func requestName(payload []byte) (name string, more int) {
	for rest := payload; ; more++ {
		if !beginsRequest(rest) {
			return name, more
		}
		if name == "" {
			name = nameOf(rest)
		}
		end := bytes.Index(rest, []byte("\r\n\r\n"))
		if end < 0 {
			return name, more + 1
		}
		rest = rest[end+4:]
	}
}

func beginsRequest(b []byte) bool {
	for _, m := range methods {
		if len(b) > len(m) && string(b[:len(m)]) == m {
			line, _, whole := bytes.Cut(b[:min(len(b), 8192)], []byte("\r\n"))
			return !whole || bytes.Contains(line, []byte(" HTTP/1."))
		}
	}
	return false
}

func nameOf(b []byte) string {
	method, rest, _ := bytes.Cut(b, []byte(" "))
	end := bytes.IndexAny(rest, " ?#\r\n")
	cut := end < 0 || end > longestName
	if cut {
		end = min(len(rest), longestName)
	}
	var s strings.Builder
	s.Write(method)
	s.WriteByte(' ')
	for _, c := range rest[:end] {
		if c < 0x21 || c > 0x7e {
			c = '?'
		}
		s.WriteByte(c)
	}
	if cut {
		s.WriteString("…")
	}
	return s.String()
}

// httpAnswer is how far an HTTP/1 answer goes, as its head says: where it is known
// to go on, a pause in it is the server's.
type httpAnswer struct {
	known bool
	until int64 // behind its last byte; -1: chunked
	done  bool
}

// begins reads an answer's head, whose first byte is byte at of its direction.
func (h *httpAnswer) begins(payload []byte, at int64, asked string) {
	if !bytes.HasPrefix(payload, []byte("HTTP/1.")) || len(payload) < 12 {
		return
	}
	head := bytes.Index(payload, []byte("\r\n\r\n"))
	if head < 0 {
		return
	}
	h.known, h.until = true, at+int64(head)+4
	status := payload[9:12]
	if status[0] == '1' || string(status) == "204" || string(status) == "304" || strings.HasPrefix(asked, "HEAD ") {
		h.done = true // RFC 9112, 6.3
		return
	}
	h.known = false
	for line := range bytes.SplitSeq(payload[:head], []byte("\r\n")) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Transfer-Encoding")) && bytes.EqualFold(value, []byte("chunked")):
			h.known, h.until = true, -1
		case bytes.EqualFold(name, []byte("Content-Type")) && (bytes.HasPrefix(value, []byte("text/event-stream")) || bytes.HasPrefix(value, []byte("multipart/x-mixed-replace"))):
			h.known, h.done = true, true // it pauses as it likes
			return
		case bytes.EqualFold(name, []byte("Content-Length")):
			n, err := strconv.ParseInt(string(value), 10, 62)
			if err == nil && n >= 0 && h.until >= 0 {
				h.known, h.until = true, h.until+min(n, 1<<60)
			}
		}
	}
}

// goesOn takes more of the answer: all below high is there, and payload is the end of it.
func (h *httpAnswer) goesOn(payload []byte, whole bool, high int64) {
	if h.known && h.until >= 0 && high >= h.until {
		h.done = true
	}
	if h.known && h.until < 0 && whole && bytes.HasSuffix(payload, []byte("0\r\n\r\n")) {
		h.done = true
	}
}

// awaited reports that more of the answer must come.
func (h *httpAnswer) awaited() bool { return h.known && !h.done }
