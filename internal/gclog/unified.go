package gclog

import (
	"bytes"
	"time"
)

// unifiedLine reads a line of -Xlog: "[time][uptime][level][tags] message", of which
// any decorations may be missing (logDecorators.cpp), all in the worst case.
func (r *Reader) unifiedLine(line []byte) {
	message := line
	for len(message) > 0 && message[0] == '[' {
		end := bytes.IndexByte(message, ']')
		if end < 0 {
			return
		}
		message = message[end+1:]
	}
	stamped := line[:len(line)-len(message)]
	if len(stamped) > 0 && len(message) > 0 && message[0] == ' ' {
		message = message[1:]
	}
	id := -1
	if hasPrefix(message, "GC(") {
		n := 0
		for i := 3; i < len(message) && isDigit(message[i]) && i < 12; i++ {
			n = n*10 + int(message[i]-'0')
			id = n
		}
		end := bytes.IndexByte(message, ')')
		if id < 0 || end < 0 || end+2 > len(message) {
			return
		}
		message = message[end+2:]
	}
	if len(message) == 0 {
		return
	}
	switch message[0] { // most lines are none of these
	case 'P', 'C', 'G', 'M', 'Y', 'O', 'y':
		r.phase(stamped, message, id)
	case 'S', 'T', 'E':
		r.safepointLine(stamped, message)
	case 'A', 'R':
		r.stall(stamped, message, id)
	case 'U':
		if hasPrefix(message, "Using ") {
			r.using(message[len("Using "):])
		}
	case 'I':
		if hasPrefix(message, "Initializing ") { // ZGC's first line under gc*
			r.using(message[len("Initializing "):])
		}
	}
}

// names are what the JVM calls its collectors in "Using …" (gcLogPrecious, *InitLogger).
var collectors = []struct{ said, name string }{
	{"G1", "G1"}, {"Serial", "Serial"}, {"Parallel", "Parallel"}, {"Concurrent Mark Sweep", "CMS"},
	{"The Z Garbage Collector", "ZGC"}, {"Shenandoah", "Shenandoah"}, {"Epsilon", "Epsilon"},
}

func (r *Reader) using(what []byte) {
	for _, c := range collectors {
		if string(what) == c.said {
			r.collector = c.name
		}
	}
}

// phase reads a pause, a concurrent phase or a whole cycle: a name, a cause, the heap
// and how long it took. As it begins the JVM writes the same without a length.
func (r *Reader) phase(stamped, message []byte, id int) {
	generation := ""
	if len(message) > 3 && message[1] == ':' && message[2] == ' ' { // generational ZGC
		switch message[0] {
		case 'Y', 'y':
			generation = "young"
		case 'O':
			generation = "old"
		default:
			return
		}
		message = message[3:]
	}
	kind := Kind(0)
	switch {
	case hasPrefix(message, "Pause "):
		kind = Pause
	case hasPrefix(message, "Concurrent "):
		kind = Concurrent
	case hasPrefix(message, "Garbage Collection"), hasPrefix(message, "Major Collection"), hasPrefix(message, "Minor Collection"):
		kind = Collection
	default:
		return
	}
	text := bytes.TrimRight(message, " ")
	length, text := cutLength(text)
	var used []byte
	if at := bytes.LastIndexByte(text, ' '); at > 0 && bytes.Contains(text[at:], arrow) {
		used, text = text[at+1:], text[:at]
	}
	if length == Unknown && (kind != Collection || used == nil) {
		return // it begins
	}
	e := r.begin(kind)
	e.ID, e.Length, e.Generation = id, length, generation
	e.Start = stamp(stamped).before(length)
	if before, after, total, ok := heap(used); ok {
		e.Before, e.After, e.Total = before, after, total
	}
	name, cause := cutCause(text)
	e.Name, e.Cause = r.share(name), r.share(cause)
	r.emit(e)
}

var arrow = []byte("->")

// cutLength takes the duration off a text's end.
func cutLength(text []byte) (time.Duration, []byte) {
	at := bytes.LastIndexByte(text, ' ')
	if at < 0 {
		return Unknown, text
	}
	d, n := duration(text[at+1:])
	if n == 0 || n != len(text)-at-1 {
		return Unknown, text
	}
	return d, bytes.TrimRight(text[:at], " ")
}

// cutCause takes the cause off "Pause Young (Normal) (G1 Evacuation Pause)". What
// stands in brackets after the other names tells the work itself.
func cutCause(text []byte) (name, cause []byte) {
	causal := false
	for _, p := range []string{"Pause Young", "Pause Full", "Pause Mixed", "Pause Initial Mark", "Garbage ", "Major ", "Minor "} {
		causal = causal || hasPrefix(text, p)
	}
	for rest := text; causal; {
		open := lastGroup(rest)
		if open < 1 {
			break
		}
		group := rest[open+1 : len(rest)-1]
		rest = bytes.TrimRight(rest[:open], " ")
		switch {
		case hasPrefix(group, "Evacuation Failure"): // told behind the cause (JDK 17 and later)
			text = rest
		case isWork(group):
			return text, nil
		default:
			return rest, group
		}
	}
	return text, nil
}

// isWork tells the kinds of young collections of G1, and of ZGC's pauses.
func isWork(group []byte) bool {
	switch string(group) {
	case "Normal", "Mixed", "Prepare Mixed", "Concurrent Start", "Concurrent End", "Major", "Minor":
		return true
	}
	return false
}

// lastGroup is where the brackets open that the text ends with; -1 where it doesn't.
func lastGroup(text []byte) int {
	if len(text) == 0 || text[len(text)-1] != ')' {
		return -1
	}
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// stall reads "Allocation Stall (thread) 12.345ms" (zPageAllocator.cpp). A thread may
// have any name.
func (r *Reader) stall(stamped, message []byte, id int) {
	name, rest, ok := bytes.Cut(message, []byte(" ("))
	if !ok || string(name) != "Allocation Stall" && string(name) != "Relocation Stall" {
		return
	}
	length, rest := cutLength(bytes.TrimRight(rest, " "))
	if length == Unknown || len(rest) == 0 || rest[len(rest)-1] != ')' {
		return
	}
	e := r.begin(Stall)
	e.ID, e.Length, e.Start = id, length, stamp(stamped).before(length)
	e.Name, e.Thread = r.share(name), r.share(rest[:len(rest)-1])
	r.emit(e)
}

// stamp reads the clocks of a line's decorations. Others (level, tags, pid, tid, host)
// are passed over: none looks like a clock.
func stamp(decorations []byte) Stamp {
	var s Stamp
	for len(decorations) > 0 && decorations[0] == '[' {
		end := bytes.IndexByte(decorations, ']')
		if end < 0 {
			return s
		}
		s.add(bytes.TrimRight(decorations[1:end], " "))
		decorations = decorations[end+1:]
	}
	return s
}

// millisOfEpoch: "[1660667643651ms]" is timemillis and "[235ms]" uptimemillis; a JVM
// is not up for thirty years.
const millisOfEpoch = 1e12

func (s *Stamp) add(text []byte) {
	if len(text) == 0 || !isDigit(text[0]) {
		return
	}
	if wall, n := date(text); n == len(text) && n > 0 {
		s.Wall, s.HasWall = wall, true
		return
	}
	d, n := duration(text)
	if n != len(text) || n < 2 {
		return // a pid
	}
	switch unit := text[n-2]; {
	case unit == 'm' && d >= millisOfEpoch*time.Millisecond:
		if !s.HasWall {
			s.Wall, s.HasWall = int64(d), true
		}
	case unit == 'n' && s.HasNanos: // the second of both is since the JVM began (logDecorators.hpp)
		s.Uptime, s.HasUptime = d, true
	case unit == 'n':
		s.Nanos, s.HasNanos = int64(d), true
	default:
		s.Uptime, s.HasUptime = d, true
	}
}

// LastStamp is the stamp of the last whole line: what the file's time of change
// stands beside.
func LastStamp(b []byte) Stamp {
	end := bytes.LastIndexByte(b, '\n')
	if end < 0 {
		return Stamp{}
	}
	line := b[bytes.LastIndexByte(b[:end], '\n')+1 : end]
	if len(line) == 0 {
		return Stamp{}
	}
	if isLegacy(line) {
		return Stamp{} // a collection's stamp is of when it began
	}
	return stamp(line)
}
