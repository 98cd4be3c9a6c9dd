package ledger

import (
	"slices"
	"strings"

	"snag/recording"
)

// Word is a futex's, in a process.
type Word struct {
	PID     int
	Address uint64
}

// SleepWords are those on which threads only wait for a time to pass, by the stacks of their waits.
// A JVM's Thread.sleep waits on a condition of the thread's own, with a time limit: its call alone
// looks like that of a thread that waits for work, for which the JVM has another word.
func SleepWords(r *recording.Recording) map[Word]bool {
	sleeping := map[int]bool{} // by stack
	for _, s := range r.Stacks {
		sleeping[s.ID] = slices.ContainsFunc(s.Frames, func(f string) bool { return strings.HasPrefix(f, "JVM_Sleep") })
	}
	out := map[Word]bool{}
	for i := range r.OffCPU { // large rows: none is copied
		row := &r.OffCPU[i]
		if row.Stack == 0 || row.Futex == 0 {
			continue
		}
		w := Word{row.PID, row.Futex}
		before, seen := out[w]
		out[w] = sleeping[row.Stack] && (before || !seen)
	}
	return out
}

// mostlyLock is the part of the time on a word that must be spent waiting for a lock.
const mostlyLock = 0.8

// lockWords are those on which threads wait for a lock that the word itself does not show: a
// semaphore's (Python's locks), or the word on which each thread parks by itself. The closer look saw
// such locks pass from thread to thread, and has the stacks of those who waited for them.
func lockWords(r *recording.Recording) map[Word]bool {
	stacks := map[[2]int]bool{} // by process
	for _, w := range r.LockWaits {
		if w.Kind == "mutex" && w.Address == 0 && w.Owner != 0 && w.Stack != 0 {
			stacks[[2]int{w.PID, w.Stack}] = true
		}
	}
	if len(stacks) == 0 {
		return nil
	}
	type spent struct{ lock, all float64 }
	by := map[Word]spent{}
	for i := range r.OffCPU {
		row := &r.OffCPU[i]
		if row.Futex == 0 {
			continue
		}
		w := Word{row.PID, row.Futex}
		t := by[w]
		t.all += row.Sum
		if stacks[[2]int{row.PID, row.Stack}] {
			t.lock += row.Sum
		}
		by[w] = t
	}
	out := map[Word]bool{}
	for w, t := range by {
		if t.lock > 0 && t.lock >= mostlyLock*t.all {
			out[w] = true
		}
	}
	return out
}
