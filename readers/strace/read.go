package strace

import (
	"bytes"
	"context"
	"slices"

	"snag/readers/reader"
)

// Sniff tells whether a file's beginning is strace's: of its first lines, most
// are calls, or of the table of strace -c.
func Sniff(head []byte) bool {
	var calls, noise, table int
	var l Line
	for range 200 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if !whole {
			break
		}
		head = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue // says nothing of what it is
		}
		switch l.Parse(line); l.Kind {
		case Noise:
			noise++
		case Call, Unfinished, Resumed:
			calls++
		case Table:
			table++
		}
	}
	return calls > 0 && calls >= noise || table > 2 && calls == 0 && noise <= table
}

// Read reads a file into a trace, which the caller ends. What is cut at the
// file's end is left out and counted.
func Read(ctx context.Context, in *reader.Input, t *Trace) error {
	forms := spellings(t.o.Find)
	free := make(chan []Line, 16) // lines of pieces that were used
	parse := func(c reader.Chunk) []Line {
		var lines []Line
		select {
		case lines = <-free:
		default:
		}
		return parseChunk(c, lines[:0], forms)
	}
	return reader.EachChunk(ctx, in, parse, func(lines []Line) error {
		for i := range lines {
			t.Line(&lines[i])
		}
		select {
		case free <- lines:
		default:
		}
		return nil
	})
}

func parseChunk(c reader.Chunk, lines []Line, forms [][]byte) []Line {
	b := c.Data
	look := len(forms) > 0 && holds(b, forms)
	for len(b) > 0 {
		line := b
		i := bytes.IndexByte(b, '\n')
		if i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		if len(lines) == cap(lines) {
			lines = slices.Grow(lines, max(1024, len(lines)/4))
		}
		lines = lines[:len(lines)+1] // what was parsed there before is written over
		l := &lines[len(lines)-1]
		if i < 0 && c.Cut { // its end is not there: what it looks like may not be what it was
			*l = Line{Took: -1}
			continue
		}
		if l.Parse(line); look {
			l.Hit = holds(line, forms)
		}
	}
	return lines
}
