package lab

import (
	"syscall"
	"time"
)

// breaksAt is when, of find's window, a process is told by BreaksIn: it must have been
// seen for some seconds before and after.
const breaksAt = 0.45

// BreaksIn sends a signal to a process in the middle of snag find's window, for
// incidents that are a change: what was well before and is not any more.
func (s *Stage) BreaksIn(p *Process, sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breaks = append(s.breaks, func() { s.Signal(p, sig) })
}

// BreaksBy is BreaksIn for what is not a signal.
func (s *Stage) BreaksBy(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breaks = append(s.breaks, do)
}

// Break does now what was to be done in the middle of the window: for checks of the
// truth, which run without find.
func (s *Stage) Break() {
	s.mu.Lock()
	all := s.breaks
	s.breaks = nil
	s.mu.Unlock()
	for _, do := range all {
		do()
	}
}

func (s *Stage) breakAfter(d time.Duration) {
	go func() {
		select {
		case <-s.ctx.Done():
		case <-time.After(d):
			s.Break()
		}
	}()
}
