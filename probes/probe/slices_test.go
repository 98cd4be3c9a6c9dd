package probe

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// simulate runs slices of programs that take load of a CPU while they are attached.
func simulate(s *Slices, load func(at time.Duration) float64, window time.Duration) (measured, took time.Duration, slices int) {
	random := 0.0
	next := func() float64 { // even over 0 to 1
		random += 0.618
		if random > 1 {
			random--
		}
		return random
	}
	at, on := time.Duration(0), FirstSlice
	for slices = 1; at < window; {
		spent := time.Duration(load(at) * float64(on))
		at, measured, took = at+on, measured+on, took+spent
		if rest := s.Rest(on, spent, next()); rest > 0 {
			at += rest
			slices++
		}
		on = s.Length(next())
	}
	return measured, took, slices
}

func TestSlicesKeepToTheirShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		load      float64
		window    time.Duration
		least     float64 // of the time measured
		most      float64 // of a CPU taken
		leastRuns int
	}{
		{"quiet", 0.0001, 30 * time.Second, 1, 0.0001, 1},
		{"just within", 0.0099, 30 * time.Second, 1, 0.0099, 1},
		{"three times too much", 0.03, 30 * time.Second, 0.3, 0.0115, 5},
		{"nginx with keep-alive", 0.09, 30 * time.Second, 0.09, 0.0135, 6},
		{"a whole CPU: the longest rest holds", 1, 60 * time.Second, 0.05, 0.08, 6},
	} {
		s := &Slices{Share: 0.01}
		measured, took, slices := simulate(s, func(time.Duration) float64 { return c.load }, c.window)
		share, cost := measured.Seconds()/c.window.Seconds(), took.Seconds()/c.window.Seconds()
		if share < c.least || cost > c.most*1.02 || slices < c.leastRuns {
			t.Errorf("%s: %.3f of the time measured in %d slices at %.4f of a CPU, want %.2f, %d, at most %.4f", c.name, share, slices, cost, c.least, c.leastRuns, c.most)
		}
	}
}

func TestAShortBurstIsMeasuredWhole(t *testing.T) {
	t.Parallel()
	s := &Slices{Share: 0.01}
	burst := func(at time.Duration) float64 {
		if at > 3*time.Second && at < 3300*time.Millisecond {
			return 0.012
		}
		return 0.001
	}
	if measured, _, slices := simulate(s, burst, 10*time.Second); slices != 1 || measured < 10*time.Second {
		t.Errorf("%v in %d slices, want all in one", measured, slices)
	}
}

func TestSlicesAreOfManyLengths(t *testing.T) {
	t.Parallel()
	s := &Slices{Share: 0.01}
	if a, b := s.Length(0), s.Length(1); a < 200*time.Millisecond || b <= 2*a {
		t.Errorf("from %v to %v", a, b)
	}
	if a, b := (&Slices{Share: 0.01}).Rest(time.Second, 50*time.Millisecond, 0), (&Slices{Share: 0.01}).Rest(time.Second, 50*time.Millisecond, 1); b < a+a/2 {
		t.Errorf("rests from %v to %v", a, b)
	}
}

// attachable counts what a Sliced does to its programs.
type attachable struct {
	attached  atomic.Bool
	begun     atomic.Int32
	ended     atomic.Int32
	began     time.Time
	refuse    error // from the second time on
	confusion atomic.Bool
}

func (a *attachable) sliced(load float64) *Sliced {
	a.began = time.Now()
	return &Sliced{
		Slices: Slices{Share: 0.1},
		Begin: func() error {
			if a.begun.Add(1) > 1 && a.refuse != nil {
				return a.refuse
			}
			a.confusion.Store(a.confusion.Load() || a.attached.Swap(true))
			return nil
		},
		End: func() error {
			a.ended.Add(1)
			a.confusion.Store(a.confusion.Load() || !a.attached.Swap(false))
			return nil
		},
		Took: func() ([]time.Duration, error) {
			return []time.Duration{0, time.Duration(load * float64(time.Since(a.began)))}, nil
		},
	}
}

func TestProgramsAreDetachedAndAttachedAgain(t *testing.T) {
	t.Parallel()
	a := &attachable{}
	s := a.sliced(0.3)
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	time.Sleep(FirstSlice / 2)
	if got := s.Account(); !got.Whole() || got.Share() != 1 || !a.attached.Load() {
		t.Errorf("in the first slice: %+v", got)
	}
	for begin := time.Now(); a.begun.Load() < 2 && time.Since(begin) < 20*time.Second; {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	s.Wait()
	got := s.Account()
	if a.begun.Load() < 2 || a.ended.Load() < 1 || a.confusion.Load() {
		t.Errorf("begun %d times, ended %d times, in a wrong order: %v", a.begun.Load(), a.ended.Load(), a.confusion.Load())
	}
	if got.Whole() || got.Share() > 0.8 || got.Share() < 0.1 || got.Slices < 2 || got.Most < 0.2 || got.Err != nil {
		t.Errorf("%+v, share %.2f", got, got.Share())
	}
}

func TestProgramsThatCantBeAttachedAgainAreTold(t *testing.T) {
	t.Parallel()
	a := &attachable{refuse: errors.New("no more room")}
	s := a.sliced(0.5)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Wait() // it ends by itself
	got := s.Account()
	if !errors.Is(got.Err, a.refuse) || got.Whole() || got.Slices != 1 {
		t.Errorf("%+v", got)
	}
	time.Sleep(20 * time.Millisecond)
	if later := s.Account(); later.Measured != got.Measured || later.Of <= got.Of {
		t.Errorf("%v of %v, later %v of %v", got.Measured, got.Of, later.Measured, later.Of)
	}
}
