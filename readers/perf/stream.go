package perf

import (
	"errors"
	"io"

	"snag/readers/reader"
)

// stream gives a file that has no lines, and remembers where it could not be read
// further.
type stream struct {
	in  *reader.Input
	err error
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// torn is that error as every reader says it; nil where there was none.
func (s *stream) torn() error {
	if s.err == nil {
		return nil
	}
	return &reader.Torn{Path: s.in.Path, Packed: s.in.Packed, Offset: s.in.Unpacked(), Err: s.err}
}
