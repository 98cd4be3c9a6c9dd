package probe

import "testing"

func TestWatchOnly(t *testing.T) {
	w := NewWatch(2)
	w.Only(func(pid int) bool { return pid != 7 })
	if w.Add(7, "outside") || w.Has(7) {
		t.Error("a process that is left out is watched")
	}
	if !w.Add(8, "inside") || !w.Has(8) || w.Added() != 1 {
		t.Error("another one is not")
	}
}
