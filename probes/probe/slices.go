package probe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Slices decides for how long costly programs rest after they have measured, where what
// they hang on happens so often that they would take more than Share of a CPU. It does
// no I/O and knows no clock.
type Slices struct {
	// Share is what they may take of the CPU on which they take most, 0 to 1.
	Share float64
	debt  time.Duration // CPU time taken beyond the share and not rested off
}

const (
	// sliceLength on average. What lasts longer than a slice is seen to go on, and not
	// to end: requests of people's time scale must fit in.
	sliceLength = 400 * time.Millisecond
	// FirstSlice is always whole: most hosts and all short windows are measured whole.
	FirstSlice = time.Second
	// leastRest: to attach and detach for less is not worth it. What was taken too much
	// is owed.
	leastRest = 300 * time.Millisecond
	// mostRest: of a window of 30 s a few slices must be left, whatever they cost.
	mostRest = 8 * time.Second
)

// Length of a slice, by a random number from 0 to 1: half more or less, so that nothing
// periodic falls always in, or never.
func (s *Slices) Length(random float64) time.Duration {
	return time.Duration((0.5 + random) * float64(sliceLength))
}

// Rest is for how long the programs rest after they measured for so long and took so
// much of the CPU on which they took most; 0: they go on. random as in Length.
func (s *Slices) Rest(on, took time.Duration, random float64) time.Duration {
	s.debt = max(s.debt+took-time.Duration(s.Share*float64(on)), 0)
	rest := time.Duration(float64(s.debt) / s.Share)
	if rest < leastRest {
		return 0
	}
	s.debt = 0
	return min(time.Duration((0.75+random/2)*float64(rest)), mostRest)
}

// Sliced are programs that are attached for slices of the time. Start begins them; the
// functions are called one at a time.
type Sliced struct {
	Slices
	// Begin attaches the programs, the first time too, and End detaches them: after it
	// none runs, and what they had begun to follow is settled.
	Begin, End func() error
	// Took is the CPU time that they have taken so far, on each CPU.
	Took func() ([]time.Duration, error)

	mu    sync.Mutex
	began time.Time // Start
	since time.Time // of the slice that goes on; zero: they rest
	acc   SliceAccount
	over  sync.WaitGroup
}

// SliceAccount is for how much of the time it was measured.
type SliceAccount struct {
	Measured, Of time.Duration
	Slices       int     // that were begun
	Most         float64 // share of one CPU that the programs took at most while they measured
	Err          error   // why it ended
}

// Whole reports that there was no rest: the shortest is longer.
func (a SliceAccount) Whole() bool { return a.Of-a.Measured < leastRest/2 && a.Err == nil }

// Share of the time in which it was measured, 0 to 1.
func (a SliceAccount) Share() float64 {
	if a.Whole() || a.Of <= 0 {
		return 1
	}
	return min(1, a.Measured.Seconds()/a.Of.Seconds())
}

// Text says so, for coverage.
func (a SliceAccount) Text() string {
	return fmt.Sprintf("measured %.0f %% of the time, in %d slices: all of the time its programs would take %.1f %% of a CPU from whoever runs there", 100*a.Share(), a.Slices, 100*a.Most)
}

// Start attaches the programs and has them rest when they take too much, until ctx ends.
func (s *Sliced) Start(ctx context.Context) error {
	if err := s.Begin(); err != nil {
		return err
	}
	s.began = time.Now()
	s.since, s.acc.Slices = s.began, 1
	s.over.Go(func() { s.run(ctx) })
	return nil
}

// Wait returns when ctx has ended and no slice begins or ends any more.
func (s *Sliced) Wait() { s.over.Wait() }

// Account is for how much of the time since Start it was measured, up to now.
func (s *Sliced) Account() SliceAccount {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, now := s.acc, time.Now()
	if s.began.IsZero() {
		return a
	}
	a.Of = now.Sub(s.began)
	if !s.since.IsZero() {
		a.Measured += now.Sub(s.since)
	}
	return a
}

func (s *Sliced) run(ctx context.Context) {
	next := FirstSlice
	for {
		began := time.Now()
		before := s.took()
		if !sleep(ctx, next) {
			return
		}
		next = s.Length(rand.Float64())
		on := time.Since(began)
		took := most(s.took(), before)
		s.note(took, on)
		rest := s.Rest(on, took, rand.Float64())
		if rest == 0 {
			continue
		}
		s.pause()
		if !sleep(ctx, rest) || !s.resume() {
			return
		}
	}
}

func (s *Sliced) note(took, on time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acc.Most = max(s.acc.Most, took.Seconds()/on.Seconds())
}

// pause ends a slice.
func (s *Sliced) pause() {
	s.mu.Lock()
	s.acc.Measured += time.Since(s.since)
	s.since = time.Time{}
	s.mu.Unlock()
	s.fail(s.End())
}

// resume begins one; false: they can't be attached any more.
func (s *Sliced) resume() bool {
	err := s.Begin()
	s.fail(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.since = time.Now()
		s.acc.Slices++
	}
	return err == nil
}

func (s *Sliced) took() []time.Duration {
	t, err := s.Took()
	s.fail(err)
	return t
}

func (s *Sliced) fail(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.acc.Err == nil {
		s.acc.Err = err
	}
}

// most is the greatest growth on one CPU.
func most(now, before []time.Duration) (d time.Duration) {
	for i := range now {
		if i < len(before) {
			d = max(d, now[i]-before[i])
		}
	}
	return d
}

// sleep returns false when ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
