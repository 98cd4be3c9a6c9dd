package perf

import (
	"bytes"
	"context"
	"hash/maphash"

	"snag/readers/reader"
)

// A profile of 300 MB has some 100,000 samples and ten times as many frames, of
// which most were seen before: all lines of a sample's callers together, and each line
// of a frame, are known again by their hash, and only new ones are read.

// part is a line of perf script, told apart by how it begins, or all lines of a
// sample's frames.
type part struct {
	start, end int32
	second     int32  // of a block: where its second line begins; end: it has one
	block      bool   // all frames of a sample
	hash       uint64 // of a frame's line, or of a block's first; 0: a header's
	callers    uint64 // of a block's other lines; 0: it has none
}

// piece is a part of a file.
type piece struct {
	data  []byte
	parts []part
	cut   bool
	lines uint64
	// unended: no sample ends before this place.
	unended int
}

// mostBlock is the most bytes of a sample's frames that are known as one.
const mostBlock = 64 << 10

// frames finds the lines from at on that are all frames of a sample, up to the blank
// line that ends it: where they end, the second begins, and how many they are; 0: they
// are taken line by line.
func (p *piece) frames(at int) (end, second, lines int) {
	if at < p.unended {
		return 0, 0, 0
	}
	b := p.data[:min(len(p.data), at+mostBlock)]
	for next := at; ; {
		n := bytes.IndexByte(b[next:], '\n')
		if n < 0 || next+n+1 >= len(b) {
			p.unended = len(b)
			return 0, 0, 0
		}
		next += n + 1
		if lines++; lines == 1 {
			second = next
		}
		if b[next] == '\n' {
			return next - 1, min(second, next-1), lines
		}
	}
}

// seed makes the hashes differ from run to run, so that no file can be made whose
// lines collide.
var seed = maphash.MakeSeed()

// hashOf is never 0.
func hashOf(b []byte) uint64 { return max(maphash.Bytes(seed, b), 1) }

// divide tells the lines of a piece apart. Blank lines end a sample, as the next
// header does: they are left out.
func divide(c reader.Chunk, parts []part) piece {
	b, at := c.Data, 0
	p := piece{data: c.Data, cut: c.Cut}
	for at < len(b) {
		if b[at] == '\t' {
			if end, second, lines := p.frames(at); lines > 0 {
				one := part{start: int32(at), end: int32(end), second: int32(second), block: true, hash: hashOf(b[at:second])}
				if second < end {
					one.callers = hashOf(b[second:end])
				}
				parts = append(parts, one)
				p.lines += uint64(lines)
				at = end + 1
				continue
			}
		}
		end := bytes.IndexByte(b[at:], '\n')
		whole := end >= 0
		if end < 0 {
			end = len(b) - at
		}
		line := b[at : at+end]
		p.lines++
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		switch {
		case len(line) == 0 || line[0] == '#' || !whole && c.Cut:
		case line[0] == '\t' || line[0] == ' ' && isFrame(line):
			parts = append(parts, part{start: int32(at), end: int32(at + len(line)), hash: hashOf(line)})
		default:
			parts = append(parts, part{start: int32(at), end: int32(at + len(line))})
		}
		at += end + 1
	}
	p.parts = parts
	return p
}

// isFrame tells a frame's line, which begins with an address, from a header whose
// thread's name is padded with spaces: behind it stands its number.
func isFrame(line []byte) bool {
	line = bytes.TrimLeft(line, " ")
	i := 0
	for i < len(line) && (isDigit(line[i]) || line[i] >= 'a' && line[i] <= 'f') {
		i++
	}
	if i < 4 || i >= len(line) || line[i] != ' ' {
		return false
	}
	rest := bytes.TrimLeft(line[i:], " ")
	next, _, _ := bytes.Cut(rest, []byte(" "))
	_, digits := number(next)
	return digits == 0 || digits < len(next) && next[digits] != '/'
}

// lines makes samples of the lines of perf script.
type lines struct {
	*tally
	base  int64              // what perf's clock is put on, Unix ns
	hz    map[string]float64 // what the file's header says of clocks, by event
	known known
	found *stack // of the sample that is being read, where all its lines are known
	open  bool
	bare  bool // the header names neither a time nor an event: it may be none
	now   sample
	stack []int32

	read, noise, cut      uint64
	lostSamples           uint64 // that perf itself lost
	pidless, timeless     uint64
	periodless, eventless uint64
}

func newLines(t *tally, base int64, hz map[string]float64) *lines {
	return &lines{tally: t, base: base, hz: hz, known: newKnown()}
}

// header begins a sample; the one before is whole.
func (l *lines) header(b []byte) {
	h, ok := parseHeader(b)
	if !ok && l.open && b[0] == ' ' {
		return // below a frame: its line in the source
	}
	l.close()
	switch {
	case !ok:
		l.noise++
		return
	case h.event != nil && len(h.rest) == 0: // a sample, and nothing else
	case bytes.HasPrefix(h.rest, lostRecord) || bytes.Contains(b, lostRecord):
		n, _ := number(bytes.TrimLeft(b[bytes.LastIndexByte(b, ' ')+1:], " "))
		l.lostSamples += n
		return
	case bytes.Contains(b, []byte(" PERF_RECORD_")):
		return
	}
	l.open, l.stack, l.found = true, l.stack[:0], nil
	l.bare = h.at < 0 && h.event == nil
	at := l.base
	if h.at >= 0 {
		at += h.at
	}
	name := h.event
	if name == nil {
		name = []byte("samples")
	}
	l.now = sample{comm: l.comm(h.comm), pid: h.pid, tid: h.tid, at: at, n: 1, weight: float64(h.period), event: l.eventOf(name)}
	if !h.timed {
		l.periodless++
		l.now.weight = 0
		if hz := l.hz[l.now.event.name]; hz > 0 && l.now.event.kind == clock {
			l.now.weight = 1e9 / hz
		}
	}
	if h.pid < 0 { // perf script names the thread alone (-F +pid tells both)
		l.now.pid = h.tid
		l.pidless++
	}
	if h.at < 0 {
		l.timeless++
	}
	if h.event == nil {
		l.eventless++
	}
	l.cpus = max(l.cpus, h.cpu+1)
	if len(h.rest) > 0 && bytes.IndexByte(h.event, ':') < 0 { // no chain: the line itself has the frame
		if f, ok := parseFrame(afterAddress(h.rest)); ok {
			l.stack = append(l.stack, l.id(f))
		}
	}
}

var lostRecord = []byte("PERF_RECORD_LOST")

// afterAddress leaves out the address that the event was about (-F +addr), which
// stands before that of the instruction.
func afterAddress(b []byte) []byte {
	first, rest, ok := bytes.Cut(b, []byte(" "))
	if !ok || !isHex(first) {
		return b
	}
	rest = bytes.TrimLeft(rest, " ")
	second, _, _ := bytes.Cut(rest, []byte(" "))
	if len(second) >= 6 && isHex(second) {
		return rest
	}
	return b
}

// frame adds a line's frame to the sample that is being read.
func (l *lines) frame(hash uint64, line []byte) {
	if !l.open {
		l.noise++
		return
	}
	id, ok := l.idOf(hash, line)
	switch {
	case !ok && line[0] != ' ':
		l.noise++
	case ok && len(l.stack) <= mostDepth: // one more tells the tally that it was cut
		l.stack = append(l.stack, id)
	}
}

// block takes all frames of a sample.
func (l *lines) block(p part, data []byte) {
	pure := l.open && len(l.stack) == 0
	if pure && l.again(p, data) {
		return
	}
	noise, leaf := l.noise, 0
	for at, b := 0, data[p.start:p.end]; len(b) > 0; at++ {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		switch {
		case len(line) == 0:
		case line[0] == '\t' || line[0] == ' ' && isFrame(line):
			l.frame(hashOf(line), line)
		default:
			pure = pure && line[0] == ' '
			l.header(line)
		}
		if at == 0 {
			leaf = len(l.stack)
		}
	}
	if pure && l.open && l.noise == noise && leaf == 1 {
		l.known.keepCallers(p.callers, l.stack[1:])
		l.close()
	}
}

// close counts the sample that was read.
func (l *lines) close() {
	if !l.open {
		return
	}
	l.open = false
	if l.found != nil {
		l.count(&l.now, l.found)
		return
	}
	if l.bare && len(l.stack) == 0 {
		l.noise++
		return
	}
	l.add(l.now, l.stack)
}

// take takes the lines of a piece.
func (l *lines) take(p piece) {
	for _, part := range p.parts {
		switch b := p.data[part.start:part.end]; {
		case part.hash == 0:
			l.header(b)
		case part.block:
			l.block(part, p.data)
		default:
			l.frame(part.hash, b)
		}
	}
	l.read += p.lines
	if p.cut {
		l.cut++
	}
}

// readScript reads the text of perf script.
func readScript(ctx context.Context, in *reader.Input, l *lines) error {
	free := make(chan []part, 16)
	return reader.EachChunk(ctx, in, func(c reader.Chunk) piece {
		var parts []part
		select {
		case parts = <-free:
		default:
		}
		return divide(c, parts[:0])
	}, func(p piece) error {
		l.take(p)
		select {
		case free <- p.parts:
		default:
		}
		return nil
	})
}
