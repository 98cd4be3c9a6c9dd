package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWatchKnowsWhoWasMeant: a number that is given to another process is not in the
// set any more; one that merely ended is, until who added it drops it.
func TestWatchKnowsWhoWasMeant(t *testing.T) {
	proc := t.TempDir()
	began := func(pid int, start uint64) {
		dir := filepath.Join(proc, fmt.Sprint(pid))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%d (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", pid, start)
		if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Unix(1000, 0)
	w := NewWatch(2).In(proc)
	w.now = func() time.Time { return now }
	later := func() { now = now.Add(checkEach) }
	began(10, 500)
	began(11, 501)
	if !w.Add(10, "asked for") || !w.Add(11, "asked for") || w.Add(12, "too many") {
		t.Fatal("the set holds two")
	}
	later()
	began(10, 900)
	if err := os.RemoveAll(filepath.Join(proc, "11")); err != nil {
		t.Fatal(err)
	}
	if w.Has(10) || !w.Replaced(10) || !w.Has(11) || w.Replaced(11) || len(w.PIDs()) != 1 {
		t.Errorf("10 is there: %v, 11: %v; %v", w.Has(10), w.Has(11), w.PIDs())
	}
	if !w.Add(10, "the new one") || !w.Has(10) || w.Replaced(10) {
		t.Error("who has the number now can't be added for itself")
	}
	if w.Empty() || !NewWatch(1).Empty() {
		t.Error("empty is what nobody was added to")
	}
	// Without a procfs the numbers are taken as they are.
	plain := NewWatch(1)
	plain.Add(10, "")
	if !plain.Has(10) || plain.Replaced(10) {
		t.Error("a plain set forgets")
	}
}

// Who forks for each connection is slow by another process each time: those that have ended make room.
func TestWatchMakesRoom(t *testing.T) {
	proc := t.TempDir()
	for pid := 10; pid < 13; pid++ {
		dir := filepath.Join(proc, fmt.Sprint(pid))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%d (postgres) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n", pid)
		if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := NewWatch(2).In(proc)
	if !w.Add(10, "slow") || !w.Add(11, "slow") || w.Add(12, "slow") {
		t.Fatal("the set holds two that live")
	}
	if err := os.RemoveAll(filepath.Join(proc, "11")); err != nil {
		t.Fatal(err)
	}
	if !w.Add(12, "slow") || !w.Has(10) || w.Has(11) || !w.Has(12) {
		t.Errorf("10 lives, 11 has ended, 12 is new: %v", w.PIDs())
	}
}
