package strace

import (
	"container/heap"
	"context"
	"errors"
	"io"

	"snag/readers/reader"
)

// One is a file of a set that strace -ff wrote: a thread's own.
type One struct {
	In  *reader.Input
	PID int // from the file's name
}

// ReadSet reads the files of strace -ff into one trace, in the order of their
// times. Without times (no -t, -tt, -ttt or -r) one file comes after the other.
func ReadSet(ctx context.Context, files []One, begin int64, t *Trace) error {
	var all source
	var torn error
	for _, f := range files {
		s := &one{pid: f.PID, lines: reader.NewLines(f.In), forms: spellings(t.o.Find), clock: clock{midnight: begin, begin: begin}, order: len(all)}
		if err := s.next(); err == nil {
			all = append(all, s)
		} else if !errors.Is(err, io.EOF) {
			torn = errors.Join(torn, err)
		}
	}
	heap.Init(&all)
	for n := 0; len(all) > 0; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s := all[0]
		t.clock.now, t.clock.style = max(t.clock.now, s.at), s.clock.style
		t.LineAt(&s.line, t.clock.now)
		if err := s.next(); err != nil {
			heap.Pop(&all)
			if !errors.Is(err, io.EOF) {
				torn = errors.Join(torn, err)
			}
			continue
		}
		heap.Fix(&all, 0)
	}
	return torn
}

// one is a file that is being read: its next line, and when that was.
type one struct {
	pid   int
	order int
	lines *reader.Lines
	clock clock
	forms [][]byte
	line  Line
	at    int64
}

func (s *one) next() error {
	text, whole, err := s.lines.Next()
	if err != nil {
		return err
	}
	if s.line.Parse(text); !whole {
		s.line = Line{Took: -1}
	}
	s.line.PID, s.line.Hit = s.pid, holds(text, s.forms)
	if s.line.untimed() {
		s.at = max(s.at, s.clock.now)
		return nil
	}
	s.at = s.clock.at(&s.line)
	return nil
}

// source is a heap of files by the time of their next line.
type source []*one

func (s source) Len() int { return len(s) }
func (s source) Less(i, j int) bool {
	return s[i].at < s[j].at || s[i].at == s[j].at && s[i].order < s[j].order
}
func (s source) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

// Push is heap.Interface's; files are only taken away.
func (s *source) Push(x any) { *s = append(*s, x.(*one)) }

// Pop is heap.Interface's.
func (s *source) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
