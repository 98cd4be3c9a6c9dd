package perf

import "bytes"

// header is the first line of a sample.
type header struct {
	comm     []byte
	pid, tid int
	cpu      int   // -1: the line has none
	at       int64 // ns on perf's clock; -1: none
	period   uint64
	event    []byte // without its modifiers: "cycles", "cpu-clock"
	rest     []byte // behind the event: an address and a symbol where there is no chain
}

// parseHeader reads
//
//	comm with spaces  1234/1235 [001] 51058.439989:   10101010 cpu-clock:pppH: …
//
// of which perf script leaves out the process, the CPU, the time and the period as
// its -F tells. The numbers are found from the time on backwards, as a thread may
// have any name.
func parseHeader(b []byte) (h header, ok bool) {
	h.cpu, h.at, h.period = -1, -1, 1
	for i := 0; i < len(b); {
		j := bytes.IndexByte(b[i:], ':')
		if j < 0 {
			return h, false
		}
		i += j
		if start, ns, good := timeBefore(b, i); good && (i+1 == len(b) || b[i+1] == ' ') {
			h.at = ns
			if !h.who(bytes.TrimRight(b[:start], " ")) {
				return h, false
			}
			return h, h.what(b[i+1:])
		}
		i++
	}
	return h, false
}

// timeBefore reads "51058.439989" that ends at i.
func timeBefore(b []byte, i int) (start int, ns int64, ok bool) {
	start = i
	point := -1
	for start > 0 && (isDigit(b[start-1]) || b[start-1] == '.' && point < 0) {
		start--
		if b[start] == '.' {
			point = start
		}
	}
	if point <= start || point == i-1 || start > 0 && b[start-1] != ' ' {
		return 0, 0, false
	}
	sec, _ := number(b[start:point])
	frac, n := number(b[point+1 : i])
	for ; n < 9; n++ {
		frac *= 10
	}
	return start, int64(sec)*1e9 + int64(frac), n == 9
}

// who reads "comm 1234/1235 [001]".
func (h *header) who(b []byte) bool {
	if len(b) > 0 && b[len(b)-1] == ']' {
		i := bytes.LastIndexByte(b, '[')
		if i < 0 {
			return false
		}
		n, digits := number(b[i+1 : len(b)-1])
		if digits == 0 {
			return false
		}
		h.cpu = int(n)
		b = bytes.TrimRight(b[:i], " ")
	}
	i := len(b)
	for i > 0 && (isDigit(b[i-1]) || b[i-1] == '/' || b[i-1] == '-') {
		i--
	}
	first, second, both := bytes.Cut(b[i:], []byte("/"))
	n, digits := number(bytes.TrimPrefix(first, []byte("-")))
	if digits == 0 || i == 0 {
		return false
	}
	h.pid, h.tid = 0, int(n)
	if both {
		m, _ := number(second)
		h.pid, h.tid = int(n), int(m)
	}
	h.comm = bytes.Trim(b[:i], " ")
	return true
}

// what reads "   10101010 cpu-clock:pppH: ffffffff81 native_write_msr+0x4 ([kernel])".
func (h *header) what(b []byte) bool {
	b = bytes.TrimLeft(b, " ")
	if n, digits := number(b); digits > 0 && digits < len(b) && b[digits] == ' ' {
		h.period = n
		b = bytes.TrimLeft(b[digits:], " ")
	}
	end := bytes.Index(b, []byte(": "))
	if end < 0 {
		if len(b) == 0 || b[len(b)-1] != ':' {
			return false
		}
		end = len(b) - 1
	}
	h.event = eventName(b[:end])
	h.rest = bytes.TrimSpace(b[end+1:])
	return len(h.event) > 0
}

// eventName takes off the modifiers: "cycles:ppp" is cycles, "sched:sched_switch"
// is a tracepoint and has none.
func eventName(b []byte) []byte {
	i := bytes.LastIndexByte(b, ':')
	if i <= 0 {
		return b
	}
	for _, c := range b[i+1:] {
		if !bytes.ContainsRune([]byte("pPukhHGSDWe"), rune(c)) {
			return b
		}
	}
	return b[:i]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads the digits that b begins with, at most 18.
func number(b []byte) (n uint64, digits int) {
	for digits < len(b) && digits < 18 && isDigit(b[digits]) {
		n = n*10 + uint64(b[digits]-'0')
		digits++
	}
	return n, digits
}
