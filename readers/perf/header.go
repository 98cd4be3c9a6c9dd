package perf

import "bytes"

// header is the first line of a sample.
type header struct {
	comm     []byte
	pid, tid int   // pid -1: the line has the thread's alone
	cpu      int   // -1: the line has none
	at       int64 // ns on perf's clock; -1: none
	period   uint64
	timed    bool   // it has a period
	event    []byte // without its modifiers: "cycles", "cpu-clock"; nil: none
	rest     []byte // behind the event: an address and a symbol where there is no chain
}

// parseHeader reads
//
//	comm with spaces  1234/1235 [001] 51058.439989:   10101010 cpu-clock:pppH: …
//
// of which perf script leaves out the process, the CPU, the time, the period and
// the event as its -F tells. The numbers are found from the time on backwards, as a
// thread may have any name.
func parseHeader(b []byte) (h header, ok bool) {
	h.cpu, h.at, h.period = -1, -1, 1
	for i := 0; i < len(b); i++ {
		j := bytes.IndexByte(b[i:], ':')
		if j < 0 {
			break
		}
		i += j
		if i+1 < len(b) && b[i+1] != ' ' {
			continue
		}
		if start, ns, good := timeBefore(b, i); good {
			h.at = ns
			return h, h.who(bytes.TrimRight(b[:start], " ")) && h.what(b[i+1:])
		}
	}
	return h, h.untimed(b)
}

// untimed reads a line without a time.
func (h *header) untimed(b []byte) bool {
	for i := 0; i < len(b); i++ {
		j := bytes.IndexByte(b[i:], ':')
		if j < 0 {
			break
		}
		i += j
		if i+1 < len(b) && b[i+1] != ' ' {
			continue
		}
		start := bytes.LastIndexByte(b[:i], ' ') + 1
		before := bytes.TrimRight(b[:start], " ")
		last := bytes.LastIndexByte(before, ' ') + 1
		if n, digits := number(before[last:]); digits > 0 && last+digits == len(before) {
			if h.who(bytes.TrimRight(before[:last], " ")) {
				h.period, h.timed = n, true
				return h.what(b[start:])
			}
		}
		if h.who(before) {
			return h.what(b[start:])
		}
	}
	return h.who(bytes.TrimRight(b, " "))
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
	if point <= start || point == i-1 || point-start > 10 || start > 0 && b[start-1] != ' ' {
		return 0, 0, false
	}
	sec, _ := number(b[start:point])
	frac, n := number(b[point+1 : i])
	if n > 9 {
		return 0, 0, false
	}
	if sec > maxSeconds {
		return 0, 0, false
	}
	for ; n < 9; n++ {
		frac *= 10
	}
	return start, int64(sec)*1e9 + int64(frac), true
}

// maxSeconds keeps times within an int64 of ns, with a date put on top.
const maxSeconds = 4_000_000_000

// who reads "comm 1234/1235 [001]".
func (h *header) who(b []byte) bool {
	cpu := -1
	if len(b) > 0 && b[len(b)-1] == ']' {
		i := bytes.LastIndexByte(b, '[')
		if i < 0 {
			return false
		}
		n, digits := number(b[i+1 : len(b)-1])
		if digits == 0 || i+1+digits != len(b)-1 {
			return false
		}
		cpu = int(min(n, 1<<20))
		b = bytes.TrimRight(b[:i], " ")
	}
	i := len(b)
	for i > 0 && (isDigit(b[i-1]) || b[i-1] == '/' || b[i-1] == '-') {
		i--
	}
	if i == 0 || b[i-1] != ' ' {
		return false
	}
	first, second, both := bytes.Cut(b[i:], []byte("/"))
	pid, ok := process(first)
	if !ok {
		return false
	}
	h.pid, h.tid, h.cpu = -1, pid, cpu
	if both {
		if h.tid, ok = process(second); !ok {
			return false
		}
		h.pid = pid
	}
	h.comm = bytes.Trim(b[:i], " ")
	return len(h.comm) > 0
}

// process reads the number of a process or thread; -1 is one that is gone.
func process(b []byte) (int, bool) {
	if string(b) == "-1" {
		return 0, true
	}
	n, digits := number(b)
	return int(n), digits > 0 && digits == len(b) && n <= 1<<22 // PID_MAX_LIMIT
}

// what reads "   10101010 cpu-clock:pppH: ffffffff81 native_write_msr+0x4 ([kernel])".
func (h *header) what(b []byte) bool {
	b = bytes.TrimLeft(b, " ")
	if n, digits := number(b); digits > 0 && digits < len(b) && b[digits] == ' ' {
		h.period, h.timed = n, true
		b = bytes.TrimLeft(b[digits:], " ")
	}
	if len(b) == 0 {
		return true // -F without event
	}
	end := bytes.Index(b, []byte(": "))
	if end < 0 {
		if b[len(b)-1] != ':' {
			return bytes.HasPrefix(b, []byte("PERF_RECORD_")) || isFrame(b) && h.bare(b)
		}
		end = len(b) - 1
	}
	if bytes.IndexByte(b[:end], ' ') >= 0 {
		return bytes.HasPrefix(b, []byte("PERF_RECORD_")) || isFrame(b) && h.bare(b)
	}
	h.event = eventName(b[:end])
	h.rest = bytes.TrimSpace(b[end+1:])
	return len(h.event) > 0
}

// bare takes a frame that stands behind the time: -F without event.
func (h *header) bare(b []byte) bool {
	h.rest = b
	return true
}

// eventName takes off the modifiers: "cycles:ppp" is cycles, "sched:sched_switch"
// is a tracepoint and has none.
func eventName(b []byte) []byte {
	i := bytes.LastIndexByte(b, ':')
	if i <= 0 {
		return b
	}
	for _, c := range b[i+1:] {
		if bytes.IndexByte([]byte("pPukhHGSDWeIb"), c) < 0 {
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
