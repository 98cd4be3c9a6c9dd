package objects

import (
	"errors"
	"fmt"
)

func (s *Sender) note(text string) { s.p.Note("--incidents-to: " + text) }

// trouble counts a failure, and notes the first of each cause in a row.
func (s *Sender) trouble(err error) {
	code := err.Error()
	var f *Failed
	if errors.As(err, &f) {
		code = f.Code
	}
	s.mu.Lock()
	s.count.Failed++
	again := s.noted == code
	s.noted = code
	s.mu.Unlock()
	if !again {
		s.note(err.Error() + "; recording goes on, incidents wait in the ring")
	}
}

// works notes that the store works again.
func (s *Sender) works() {
	s.mu.Lock()
	was, c := s.noted, s.count
	s.noted = ""
	s.mu.Unlock()
	if was != "" {
		s.note(fmt.Sprintf("%s works again; incidents that wait: %d, lost: %d", s.p.Store, c.Waiting, c.Lost))
	}
}
