package pace

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/streams/wire"
)

const period = 20 * time.Millisecond

func TestFollowing(t *testing.T) {
	const p = int64(period)
	for _, c := range []struct {
		name      string
		now, next int64
		want      int64
		came      bool
	}{
		{"in time", 10*p + 1000, 10 * p, 11 * p, true},
		{"at the very moment", 10 * p, 10 * p, 11 * p, true},
		{"by a clock that is behind: the next is another one", 10*p - 3000, 10 * p, 11 * p, true},
		{"three were missed", 13*p + 5, 10 * p, 14 * p, true},
		{"one that was given already", 9*p + 5, 10 * p, 10 * p, false},
	} {
		if got, came := following(c.now, c.next, period); got != c.want || came != c.came {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, got, came, c.want, c.came)
		}
	}
}

// One goroutine calls all, and a wake-up serves all of them.
func TestEachCallsAllInOneWakeUp(t *testing.T) {
	const readers, ticks = 40, 25
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	calls := make([]int, readers)
	moments := map[int64]int{} // next, by whom it was told to
	var wait sync.WaitGroup
	for i := range readers {
		wait.Go(func() {
			if err := Each(ctx, period, func(next int64) error {
				mu.Lock()
				defer mu.Unlock()
				if now := wire.Monotonic(); next <= now-int64(period) || next%int64(period) != 0 {
					t.Errorf("the next turn is at %d, and it is %d", next, now)
				}
				calls[i]++
				moments[next]++
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(moments) >= ticks })
	if n := members(); n != 1 {
		t.Errorf("%d groups", n)
	}
	cancel()
	wait.Wait()
	for i, n := range calls {
		if n < ticks/2 {
			t.Errorf("reader %d was called %d times in %d ticks", i, n, len(moments))
		}
	}
	if n := members(); n != 0 {
		t.Errorf("%d groups are left", n)
	}
}

func TestEachWithMoreThanOneGoroutineServes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var called atomic.Int64
	var wait sync.WaitGroup
	for range 2*mostMembers + 1 {
		wait.Go(func() {
			var once sync.Once
			_ = Each(ctx, period, func(int64) error { once.Do(func() { called.Add(1) }); return nil })
		})
	}
	eventually(t, func() bool { return called.Load() == 2*mostMembers+1 })
	if n := members(); n != 3 {
		t.Errorf("%d groups for %d readers", n, called.Load())
	}
	cancel()
	wait.Wait()
	if n := members(); n != 0 {
		t.Errorf("%d groups are left", n)
	}
}

// An error ends one reader and none of the others; nothing is called once Each returned.
func TestEachEndsWithAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var others atomic.Int64
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() { _ = Each(ctx, period, func(int64) error { others.Add(1); return nil }) })
	}
	broken := errors.New("broken")
	turns, over := 0, false
	err := Each(ctx, period, func(int64) error {
		if over {
			t.Error("called once it was over")
		}
		if turns++; turns == 3 {
			return broken
		}
		return nil
	})
	over = true
	if !errors.Is(err, broken) || turns != 3 {
		t.Errorf("%v after %d turns", err, turns)
	}
	was := others.Load()
	eventually(t, func() bool { return others.Load() >= was+6 })
	cancel()
	wait.Wait()
}

// A reader that takes longer than a tick misses ticks and no more: it never gets two at
// once, and goes on.
func TestEachThatTakesLong(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	turns := 0
	var last int64
	err := Each(ctx, period, func(next int64) error {
		if next <= last {
			t.Errorf("turn %d: the next is at %d again", turns, next)
		}
		last = next
		if turns++; turns == 12 {
			return errors.New("enough")
		}
		switch turns % 3 {
		case 0:
			time.Sleep(5 * period / 2)
		case 1:
			time.Sleep(period - period/20)
		}
		return nil
	})
	if turns != 12 {
		t.Errorf("%d turns: %v", turns, err)
	}
}

func TestEveryTellsHowLate(t *testing.T) {
	for name, fault := range map[string]func(*testing.T){"by the kernel's timer": func(*testing.T) {}, "without descriptors, by Go's": noDescriptors} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			fault(t)
			began, n := time.Now(), 0
			var late []time.Duration
			Every(ctx, period, func(d time.Duration) {
				late = append(late, d)
				if n++; n == 5 {
					time.Sleep(10 * period)
				}
				if n == 8 {
					cancel()
				}
			})
			if took := time.Since(began); n < 8 || took < 15*period {
				t.Fatalf("%d calls in %s", n, took)
			}
			if late[5] < 8*period {
				t.Errorf("after 10 periods without a look it was late by %s", late[5])
			}
			if late[6] > 5*period || late[7] > 5*period { // told once
				t.Errorf("then by %s and %s", late[6], late[7])
			}
			for _, d := range late {
				if d < -time.Millisecond {
					t.Errorf("early by %s", -d)
				}
			}
		})
	}
}

// noDescriptors leaves this process none to open until the test ends.
func noDescriptors(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	})
	if tk, err := newTicker(period); err == nil {
		tk.close()
		t.Fatal("there is a descriptor")
	}
}

func members() int {
	groups.Lock()
	defer groups.Unlock()
	return len(groups.all)
}

func eventually(t *testing.T, what func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !what(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came")
		}
	}
}
