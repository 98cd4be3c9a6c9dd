package watch

import (
	"sync"
	"sync/atomic"
	"time"
)

// turns are how something of one stream is decoded now and then: its reader is asked for it, hands it
// in, and it is decoded.
type turns struct {
	slots chan struct{} // of the decoders
	wants atomic.Bool

	// Only the tick, under the watcher's lock.
	due   int64 // when the next is wanted, monotonic ns
	since int64 // since when one is
	noted bool  // that something was not measured

	mu     sync.Mutex // also of what is made of it
	busy   bool       // one is being decoded
	failed string     // why the last could not be decoded
	taken  int        // that came
}

// Wanted tells a reader whether it is to hand something in.
func (s *turns) Wanted() bool { return s.wants.Load() }

// take has what was handed in decoded; keep takes the result, under the lock.
func (s *turns) take(decode func() (keep func(), err error)) {
	if !s.wants.Swap(false) {
		return
	}
	s.mu.Lock()
	s.busy, s.taken = true, s.taken+1
	s.mu.Unlock()
	go func() {
		s.slots <- struct{}{}
		keep, err := decode()
		<-s.slots
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.busy = false; err != nil {
			s.failed = Clean(err.Error(), 300)
			return
		}
		keep()
	}()
}

// open reports whether something is wanted or being decoded.
func (s *turns) open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy || s.wants.Load()
}

// turn asks for the next of a stream that is being read, where it is time and there is room, and tells
// whether it did; note is what a person must know, "" for nothing: never where none came in patience.
func (s *turns) turn(now int64, room bool, every, patience time.Duration, never string) (asked bool, note string) {
	s.mu.Lock()
	busy, failed, taken := s.busy, s.failed, s.taken
	s.failed = ""
	s.mu.Unlock()
	switch {
	case failed != "":
		note = failed
	case s.wants.Load() && now-s.since > int64(patience) && s.wants.Swap(false) && taken == 0:
		note = never
	}
	if s.noted && note != "" {
		note = ""
	}
	s.noted = s.noted || note != ""
	if busy || s.wants.Load() || now < s.due || !room {
		return false, note
	}
	s.since, s.due = now, now+int64(every)
	s.wants.Store(true)
	return true, note
}
