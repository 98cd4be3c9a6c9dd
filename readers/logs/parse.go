package logs

import (
	"bytes"

	"snag/internal/stamp"
	"snag/readers/reader"
)

// parser knows a file's form; it is used by several goroutines, each with a clock of
// its own.
type parser struct {
	form    *form
	clock   stamp.Clock
	columns columns // of Wowza's, nil for all others
	rules   []*rule // of the user's map
}

// mostLine bytes of a line are looked at.
const mostLine = 64 << 10

// chunk reads all lines of a piece.
func (p *parser) chunk(c reader.Chunk, entries []entry) []entry {
	clock := p.clock
	timed := -1 // the last line with a time
	b := c.Data
	for len(b) > 0 {
		line := b
		i := bytes.IndexByte(b, '\n')
		if i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		entries = append(entries, entry{})
		e := &entries[len(entries)-1]
		e.clear()
		e.size = int32(min(len(line)+1, 1<<30))
		if i < 0 && c.Cut && !c.Last { // a line longer than a piece: its beginning tells enough
			line = line[:min(len(line), mostLine)]
		}
		p.line(&clock, bytes.TrimSuffix(line, []byte("\r")), e)
		switch {
		case e.at != 0:
			timed = len(entries) - 1
		case timed >= 0:
			entries[timed].goesOn(line)
		}
	}
	return entries
}

// line reads one line.
func (p *parser) line(c *stamp.Clock, line []byte, e *entry) {
	if len(line) > mostLine {
		line = line[:mostLine]
	}
	if len(line) == 0 || line[0] == '#' && p.columns != nil {
		return
	}
	size := e.size
	message, ok := p.form.open(c, line, e)
	if !ok {
		e.clear() // it may have taken a part for something
		e.size = size
		return
	}
	p.message(c, line, message, e)
}

// message reads what stands behind the time.
func (p *parser) message(c *stamp.Clock, line, message []byte, e *entry) {
	for _, r := range p.rules {
		if r.apply(message, e) {
			return
		}
	}
	switch {
	case p.columns != nil && e.wowzaLine(p.columns, line):
		return
	case e.request:
		return // JSON told it
	case len(message) > 0 && message[0] == '{' && &message[0] != &line[0]:
		// A container's line that is JSON itself.
		at := e.at
		if inner, ok := jsonLine(c, message, e); ok && !e.request {
			e.tell(inner)
		}
		e.at = at
		return
	}
	// A message of a container or of syslog may have a time of its own.
	if len(message) > 20 && digit(message[0]) {
		if _, n := stamp.ISO(c, message); n > 0 {
			message = bytes.TrimLeft(message[n:], " \t")
		}
	}
	e.tell(message)
}

// goesOn takes a line without a time, of a message of several: "Caused by:
// java.net.ConnectException: Connection refused" reports what the error was.
func (e *entry) goesOn(line []byte) {
	if e.request || e.errno != "" || e.what != "" && e.what != failure {
		return
	}
	e.failure(line[:min(len(line), mostTold)])
}
