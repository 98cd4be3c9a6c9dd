package perf

import (
	"bytes"
	"context"
	"hash/maphash"

	"snag/readers/reader"
)

// A profile of 300 MB has some 100,000 samples and ten times as many frames, of
// which most were seen before: the lines of frames are known again by their hash,
// and only new ones are read.

// part is a line of perf script, told apart by how it begins.
type part struct {
	start, end int32
	hash       uint64 // of a frame's line; 0: a header's
}

// piece is a part of a file.
type piece struct {
	data  []byte
	parts []part
	cut   bool
}

// seed makes the hashes differ from run to run, so that no file can be made whose
// lines collide.
var seed = maphash.MakeSeed()

// divide tells the lines of a piece apart. Blank lines end a sample, as the next
// header does: they are left out.
func divide(c reader.Chunk, parts []part) piece {
	b, at := c.Data, 0
	for at < len(b) {
		end := bytes.IndexByte(b[at:], '\n')
		whole := end >= 0
		if end < 0 {
			end = len(b) - at
		}
		line := b[at : at+end]
		switch {
		case len(line) == 0 || line[0] == '#' || !whole && c.Cut:
		case line[0] == '\t' || line[0] == ' ' && isFrame(line):
			h := maphash.Bytes(seed, line)
			parts = append(parts, part{int32(at), int32(at + end), max(h, 1)})
		default:
			parts = append(parts, part{start: int32(at), end: int32(at + end)})
		}
		at += end + 1
	}
	return piece{c.Data, parts, c.Cut}
}

// isFrame tells a frame's line, which begins with an address, from a header whose
// thread's name is padded with spaces.
func isFrame(line []byte) bool {
	line = bytes.TrimLeft(line, " ")
	i := 0
	for i < len(line) && (isDigit(line[i]) || line[i] >= 'a' && line[i] <= 'f') {
		i++
	}
	return i >= 4 && i < len(line) && line[i] == ' '
}

// readScript reads the text of perf script into a join.
func readScript(ctx context.Context, in *reader.Input, j *join) error {
	free := make(chan []part, 16)
	return reader.EachChunk(ctx, in, func(c reader.Chunk) piece {
		var parts []part
		select {
		case parts = <-free:
		default:
		}
		return divide(c, parts[:0])
	}, func(p piece) error {
		for _, l := range p.parts {
			if l.hash == 0 {
				j.header(p.data[l.start:l.end])
			} else {
				j.frame(l.hash, p.data[l.start:l.end])
			}
		}
		select {
		case free <- p.parts:
		default:
		}
		return nil
	})
}
