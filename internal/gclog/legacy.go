package gclog

import (
	"bytes"
	"time"
)

// isLegacy tells a line that JDK 5 to 8 print: it begins with a stamp outside of
// brackets, or has none and begins with the collection.
func isLegacy(line []byte) bool {
	if line[0] == ' ' && len(line) > 1 { // ergonomics
		line = line[1:]
	}
	if isDigit(line[0]) {
		return true
	}
	return line[0] == '[' && (hasPrefix(line, "[GC") || hasPrefix(line, "[Full GC") || hasPrefix(line, "[CMS-") || hasPrefix(line, "[Pause ") || hasPrefix(line, "[Concurrent "))
}

// record is a collection of JDK 8 of which not all is read yet: with details or ages
// it goes over many lines, and others may stand between.
type record struct {
	event   Event
	active  bool
	depth   int  // brackets that are open
	details bool // it is over, and its heap comes in the details (G1)
	remark  bool // a young collection lies within it (CMSScavengeBeforeRemark)
}

func (c *record) open() bool { return c.active }

// legacyLine reads a line of JDK 5 to 8.
func (r *Reader) legacyLine(line []byte) {
	at, rest := legacyStamp(line)
	c := &r.legacy
	if c.active && c.event.Offset+mostRecord < r.at {
		r.flush()
	}
	collects := hasPrefix(rest, "[GC") && !hasPrefix(rest, "[GC concurrent-") || hasPrefix(rest, "[Full GC")
	switch {
	case c.active && c.details:
		if heapAt := bytes.Index(line, []byte("Heap: ")); heapAt >= 0 {
			end := bytes.IndexByte(line[heapAt:], ']')
			if end > 0 {
				if before, after, total, ok := heap(line[heapAt+len("Heap: ") : heapAt+end]); ok {
					c.event.Before, c.event.After, c.event.Total = before, after, total
				}
			}
			r.flush()
			return
		}
		if hasPrefix(rest, " [Times:") || hasPrefix(rest, "[Times:") || at.Known() && !bytes.Contains(rest, []byte("Ergonomics")) {
			r.flush()
			if at.Known() {
				r.legacyLine(line)
			}
		}
		return
	case c.active && hasPrefix(line, " (concurrent mode "):
		r.walk(line) // a phase of CMS stood between "[CMS" and what became of it
		return
	case c.active && line[0] == ' ' && !goesOn(line[1:]):
		return // PrintHeapAtGC and ergonomics put whole lines in between
	case c.active && (!collects || !at.Known() || c.remark):
		r.walk(rest)
		return
	case c.active:
		r.flush()
	}
	switch {
	case collects:
		r.collection(at, rest)
	case hasPrefix(rest, "[GC concurrent-"):
		r.phaseOfG1(at, rest[1:])
	case hasPrefix(rest, "[CMS-concurrent-"):
		r.phaseOfCMS(at, rest[1:])
	case hasPrefix(rest, "[Pause "), hasPrefix(rest, "[Concurrent "):
		r.phaseOfShenandoah(at, rest[1:])
	case hasPrefix(rest, stopped):
		r.stopped(at, rest[len(stopped):])
	}
}

// goesOn reports what became of a collection, " 3054K->3065K(13056K), 0.0077 secs]" or
// " [PSYoungGen: …", from what other options put between it and its beginning.
func goesOn(text []byte) bool {
	if hasPrefix(text, "(") && bytes.HasSuffix(text, []byte(" secs]")) { // " (to-space exhausted), 0.0279974 secs]"
		return true
	}
	if len(text) > 1 && text[0] == '[' {
		return text[1] >= 'A' && text[1] <= 'Z'
	}
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n > 0 && n+2 < len(text) && hasPrefix(text[n+1:], "->")
}

// legacyStamp takes "2014-04-09T15:26:52.201+0200: 0.384: #12: " off a line, of which
// each may be missing.
func legacyStamp(line []byte) (s Stamp, rest []byte) {
	rest = line
	if wall, n := date(rest); n > 0 && hasPrefix(rest[n:], ": ") {
		s.Wall, s.HasWall = wall, true
		rest = rest[n+2:]
	}
	if whole, frac, n := decimal(rest); n > 0 && hasPrefix(rest[n:], ": ") {
		if up, ok := times(whole, frac, time.Second); ok {
			s.Uptime, s.HasUptime = up, true
			rest = rest[n+2:]
		}
	}
	if hasPrefix(rest, "#") { // PrintGCID
		if end := bytes.Index(rest, []byte(": ")); end > 0 {
			rest = rest[end+2:]
		}
	}
	return s, rest
}

// collection begins "[GC (cause) …", "[Full GC (cause) …", "[GC pause (cause) (young)".
func (r *Reader) collection(at Stamp, text []byte) {
	e := r.begin(Pause)
	e.Start = at
	// The header goes up to the first thing that is no word and no group.
	end := 1
	for end < len(text) && text[end] != '[' && text[end] != ',' && text[end] != ']' && !isDigit(text[end]) {
		if text[end] == '(' {
			end += groupLength(text[end:])
			continue
		}
		end++
	}
	name, cause := legacyName(bytes.TrimRight(withoutExtras(text[1:end]), " -"))
	e.Name, e.Cause = r.share(name), r.share(cause)
	if hasPrefix(name, "GC pause") || hasPrefix(name, "GC remark") || hasPrefix(name, "GC cleanup") {
		r.collector, e.Collector = "G1", "G1"
	}
	r.legacy = record{event: *e, active: true, remark: string(cause) == "CMS Final Remark" || bytes.Contains(text, []byte("[YG occupancy"))}
	r.walk(text)
}

// withoutExtras cuts off a header what other options print behind it on the same line
// (PrintFLSStatistics, PrintAdaptiveSizePolicy, PrintHeapAtGC).
func withoutExtras(header []byte) []byte {
	for _, extra := range []string{"Before GC", "PSAdaptiveSize", "AdaptiveSize", "{Heap", "Heap "} {
		if at := bytes.Index(header, []byte(extra)); at > 0 {
			header = header[:at]
		}
	}
	return header
}

func groupLength(b []byte) int {
	depth := 0
	for i, c := range b {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

// legacyName takes the cause out of "GC (cause)" and "GC pause (cause) (young)". JDK 6
// and early 7 told none.
func legacyName(header []byte) (name, cause []byte) {
	open := bytes.IndexByte(header, '(')
	if open < 0 {
		return header, nil
	}
	end := open + groupLength(header[open:])
	group := bytes.TrimSuffix(header[open+1:end], []byte(")"))
	switch string(group) {
	case "young", "mixed", "partial":
		return header, nil
	}
	if rest := header[end:]; hasPrefix(rest, " (") { // the kind of a G1 collection
		return append(append([]byte(nil), bytes.TrimRight(header[:open], " ")...), rest...), group
	}
	return bytes.TrimRight(header[:open], " "), group
}

// walk goes over the brackets of a collection. Its own heap and its length stand
// outside of the parts within, the length last: "…, 0.0263911 secs]".
func (r *Reader) walk(b []byte) {
	c := &r.legacy
	for i := 0; i < len(b); i++ {
		switch ch := b[i]; {
		case ch == '{': // "{Heap before GC": its brackets don't match
			return
		case ch == '[':
			c.depth++
			r.part(b[i+1:])
		case ch == ']':
			if c.depth--; c.depth == 0 {
				r.closed()
				return
			}
		case c.depth == 1 && isDigit(ch):
			n := i
			for n < len(b) && isOfNumber(b[n]) {
				n++
			}
			c.number(b[i:n], b[i:])
			i = n - 1
		}
	}
}

func isOfNumber(c byte) bool {
	switch c {
	case '.', ',', 'B', 'K', 'M', 'G', 'T', '-', '>', '(', ')':
		return true
	}
	return isDigit(c)
}

func (c *record) number(word, all []byte) {
	if d, n := inSeconds(all); n > 0 {
		c.event.Length = d
		return
	}
	if before, after, total, ok := heap(bytes.TrimRight(word, ",")); ok && total != Unknown {
		c.event.Before, c.event.After, c.event.Total = before, after, total
	}
}

// part learns the collector from the generations that it names.
func (r *Reader) part(b []byte) {
	for _, p := range []struct{ part, collector string }{
		{"DefNew:", "Serial"}, {"Tenured:", "Serial"}, {"PSYoungGen:", "Parallel"}, {"ParOldGen:", "Parallel"}, {"PSOldGen:", "Parallel"},
		{"ParNew", "CMS"}, {"CMS", "CMS"}, {"1 CMS-", "CMS"},
	} {
		if hasPrefix(b, p.part) {
			r.collector, r.legacy.event.Collector = p.collector, p.collector
		}
	}
}

// closed is called when the last bracket is. G1 tells the heap in the details behind.
func (r *Reader) closed() {
	c := &r.legacy
	if c.event.Length == Unknown {
		c.active = false
		return
	}
	if c.event.Total == Unknown && (hasPrefix([]byte(c.event.Name), "GC pause") || c.event.Name == "Full GC") {
		c.details = true
		return
	}
	r.flush()
}

// flush tells the collection that is over, if there is one, and drops one whose end
// was cut off.
func (r *Reader) flush() {
	c := &r.legacy
	if c.active && c.event.Length != Unknown && c.depth == 0 {
		r.event = c.event
		c.active = false
		r.emit(&r.event)
	}
	r.legacy = record{}
}

// phaseOfG1 reads "GC concurrent-mark-end, 0.0026 secs]".
func (r *Reader) phaseOfG1(at Stamp, b []byte) {
	name, rest, ok := bytes.Cut(b, []byte("-end, "))
	if d, n := inSeconds(rest); ok && n > 0 {
		r.collector = "G1"
		r.concurrent(at, name, d)
	}
}

// phaseOfCMS reads "CMS-concurrent-mark: 0.010/0.012 secs]": CPU time and time.
func (r *Reader) phaseOfCMS(at Stamp, b []byte) {
	name, rest, ok := bytes.Cut(b, []byte(": "))
	if !ok {
		return
	}
	_, rest, ok = bytes.Cut(rest, []byte("/"))
	if d, n := inSeconds(rest); ok && n > 0 {
		r.collector = "CMS"
		r.concurrent(at, name, d)
	}
}

func (r *Reader) concurrent(at Stamp, name []byte, d time.Duration) {
	e := r.begin(Concurrent)
	e.Name, e.Length, e.Start = r.share(name), d, at.before(d)
	r.emit(e)
}

// phaseOfShenandoah reads "Pause Init Mark (process weakrefs), 3.341 ms]" and
// "Pause Full 10M->5M(20M), 12.3 ms]" of the JDK 8 that have that collector.
func (r *Reader) phaseOfShenandoah(at Stamp, b []byte) {
	end := bytes.IndexByte(b, ']')
	comma := bytes.LastIndex(b[:max(end, 0)], []byte(", "))
	if comma < 0 {
		return
	}
	d, n := duration(b[comma+2 : end])
	if n == 0 || n != end-comma-2 {
		return // ", start"
	}
	kind := Pause
	if b[0] == 'C' {
		kind = Concurrent
	}
	r.collector = "Shenandoah"
	e := r.begin(kind)
	text := b[:comma]
	if space := bytes.LastIndexByte(text, ' '); space > 0 && bytes.Contains(text[space:], arrow) {
		e.Before, e.After, e.Total, _ = heap(text[space+1:])
		text = text[:space]
	}
	name, cause := cutCause(text)
	e.Name, e.Cause, e.Length, e.Start = r.share(name), r.share(cause), d, at.before(d)
	r.emit(e)
}
