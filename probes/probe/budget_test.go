package probe

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"snag/recording"
)

func TestBudgetIsAShareOfTheMachine(t *testing.T) {
	b := NewBudget(0.02, 4)
	b.Charge("syscalls", 0.5)
	b.Charge("offcpu", 0.3)
	b.Charge("offcpu", -1) // a counter that was reset takes nothing back
	for seconds, over := range map[float64]bool{0.5: false, 9.9: true, 10.1: false} {
		if b.Over(seconds) != over {
			t.Errorf("0.8 s of CPU in %g s: over is %v", seconds, !over)
		}
	}
	// 0.8 s are taken, 0.08 s come in each second: 0.4 s are left after 15.
	for rate, left := range map[float64]float64{0.05: math.Inf(1), 0.28: 2, 4.08: 0.1} {
		if got := b.Lasts(15, rate, 0); got != left && math.Abs(got-left) > 1e-9 {
			t.Errorf("at %g s per second it lasts %g s, not %g", rate, got, left)
		}
	}
	if got := b.Lasts(5, 1, 0); got != 0 {
		t.Errorf("what is over lasts %g s", got)
	}
	if s := b.Spent(); s["offcpu"] != 0.3 || s["syscalls"] != 0.5 {
		t.Errorf("spent %v", s)
	}
	none := NewBudget(0, 1)
	none.Charge("x", 100)
	if none.Over(10) {
		t.Error("no limit is over")
	}
}

func TestBudgetIsAShareOfEachCPU(t *testing.T) {
	t.Parallel()
	b := NewBudget(0.02, 64)
	b.Took("sockets", []time.Duration{100 * time.Millisecond, 0, 50 * time.Millisecond})
	b.Took("offcpu", []time.Duration{0, 0, 90 * time.Millisecond})
	b.Took("offcpu", []time.Duration{0, 0, 100 * time.Millisecond}) // so far, not since then
	for seconds, over := range map[float64]bool{7.4: true, 7.6: false} {
		if b.Over(seconds) != over {
			t.Errorf("0.15 s of the third CPU in %g s: over is %v", seconds, !over)
		}
	}
	// 0.15 s are taken of it, 0.02 s come in each second: 0.15 s are left after 15.
	for busiest, left := range map[float64]float64{0.01: math.Inf(1), 0.17: 1} {
		if got := b.Lasts(15, 0.2, busiest); got != left && math.Abs(got-left) > 1e-9 {
			t.Errorf("at %g of a CPU it lasts %g s, not %g", busiest, got, left)
		}
	}
}

func TestEachStackHasOneID(t *testing.T) {
	var rec recording.Recording
	s := NewStacks(adder{&rec}, 2)
	a := s.ID(recording.Stack{Frames: []string{"read", "main"}})
	b := s.ID(recording.Stack{Frames: []string{"read", "main"}, Cut: "no frame pointers"})
	if again := s.ID(recording.Stack{Frames: []string{"read", "main"}}); a == 0 || b == 0 || a == b || again != a {
		t.Errorf("ids %d %d %d", a, b, again)
	}
	if c := s.ID(recording.Stack{Frames: []string{"write"}}); c != 0 || s.Left() != 1 {
		t.Errorf("a third of two has id %d, %d left", c, s.Left())
	}
	if s.ID(recording.Stack{}) != 0 {
		t.Error("a stack without frames has an id")
	}
	if len(rec.Stacks) != 2 || rec.Stacks[0].ID != a {
		t.Errorf("stacks %v", rec.Stacks)
	}
}

type adder struct{ rec *recording.Recording }

func (a adder) Append(row recording.Row) { a.rec.Add(row) }

func (adder) Sample(recording.Time, string, recording.Labels, float64) {}

// The names of thousands of stacks are the recording's. Here, each has its id.
func TestMemoryOfStackIDs(t *testing.T) {
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	s := NewStacks(nowhere{}, manyStacks)
	before := inUse()
	for i := range manyStacks {
		frames := make([]string, 40)
		for j := range frames {
			frames[j] = fmt.Sprintf("cmd/compile/internal/ssa.function%d", i+j)
		}
		s.ID(recording.Stack{Frames: frames})
	}
	if took := inUse() - before; took > 2<<20 {
		t.Errorf("%d ids take %.1f MB, more than 2", manyStacks, float64(took)/1e6)
	}
	runtime.KeepAlive(s)
}

type nowhere struct{}

func (nowhere) Append(recording.Row) {}

func (nowhere) Sample(recording.Time, string, recording.Labels, float64) {}
