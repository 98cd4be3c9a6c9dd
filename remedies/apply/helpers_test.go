package apply

import (
	"bytes"
	"sync"

	"golang.org/x/sys/unix"

	"snag/remedies/knob"
	"snag/remedies/plan"
)

// syncBuffer is written by a guard and read by its test.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// stuckKind refuses its first writes.
type stuckKind struct {
	knob.Knob
	left int
}

func (s *stuckKind) Write(h knob.Host, t plan.Target, v string) error {
	if s.left--; s.left >= 0 {
		return unix.EBUSY
	}
	return s.Knob.Write(h, t, v)
}
