package reader

import (
	"bytes"
	"errors"
	"io"
)

// A line's room: what most lines need, and the most of a line that Lines gives.
const (
	firstRoom = 8 << 10
	mostRoom  = 64 << 10
)

// Lines gives a file's lines one after the other, for whoever reads many files at
// the same time: it holds little of each.
type Lines struct {
	in   *Input
	buf  []byte
	rest []byte
	err  error
	// Cut counts lines that were longer than 64 KiB: their rest is left out.
	Cut uint64
}

// NewLines begins to read a file.
func NewLines(in *Input) *Lines { return &Lines{in: in, buf: make([]byte, 0, firstRoom)} }

// Next gives the next line without its end, valid until the next call; whole is
// false where the line's end is not in the file or too far away. The error is
// io.EOF after the last line.
func (l *Lines) Next() (line []byte, whole bool, err error) {
	for {
		if i := bytes.IndexByte(l.rest, '\n'); i >= 0 {
			line, l.rest = l.rest[:i], l.rest[i+1:]
			return line, true, nil
		}
		if l.err != nil {
			line, l.rest = l.rest, nil
			if len(line) > 0 {
				return line, false, nil
			}
			return nil, false, l.err
		}
		if len(l.rest) == cap(l.buf) {
			if cap(l.buf) >= mostRoom {
				return l.tooLong(), false, nil
			}
			l.buf = make([]byte, 0, 2*cap(l.buf)) // l.rest keeps the old one
		}
		n := copy(l.buf[:cap(l.buf)], l.rest)
		m, err := l.in.Read(l.buf[n:cap(l.buf)])
		l.rest = l.buf[:n+m]
		l.ended(err)
	}
}

func (l *Lines) tooLong() []byte {
	l.Cut++
	line := bytes.Clone(l.rest)
	rest, _, err := skipLine(l.in)
	l.rest = append(l.buf[:0], rest...)
	l.ended(err)
	return line
}

func (l *Lines) ended(err error) {
	if l.err = err; err != nil && !errors.Is(err, io.EOF) {
		l.err = readError(l.in, err, l.in.Unpacked())
	}
}
