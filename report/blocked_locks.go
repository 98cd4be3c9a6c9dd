package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"snag/internal/sorting"
)

// queue is the threads of a process that wait for one lock.
type queue struct {
	pid     int
	lock    string
	holder  int
	waiting []BlockedThread
}

// queues are the locks that several threads wait for, those with most waiters first.
func queues(rows []BlockedThread) []queue {
	type lockOf struct {
		pid  int
		lock string
	}
	found := map[lockOf]*queue{}
	for _, t := range rows {
		if t.Lock == "" {
			continue
		}
		q := at(found, lockOf{t.PID, t.Lock})
		q.pid, q.lock, q.holder = t.PID, t.Lock, max(q.holder, t.Holder)
		q.waiting = append(q.waiting, t)
	}
	var out []queue
	for _, q := range found {
		if len(q.waiting) > 1 {
			out = append(out, *q)
		}
	}
	sorting.By(out, func(a, b queue) int {
		return cmp.Or(cmp.Compare(len(b.waiting), len(a.waiting)), cmp.Compare(a.pid, b.pid), cmp.Compare(a.lock, b.lock))
	})
	return out
}

// circles are the threads that wait for each other's locks in a circle, each once, from
// the one with the lowest id on: none of them will ever go on.
func circles(rows []BlockedThread) [][]BlockedThread {
	waits := map[int]BlockedThread{}
	for _, t := range rows {
		if t.Holder != 0 {
			waits[t.TID] = t
		}
	}
	var out [][]BlockedThread
	for _, first := range rows {
		var circle []BlockedThread
		for t, ok := waits[first.TID]; ok && len(circle) <= len(waits); t, ok = waits[t.Holder] {
			circle = append(circle, t)
			if t.Holder < first.TID { // it is found from there, or it is no circle of first's
				break
			}
			if t.Holder == first.TID {
				out = append(out, circle)
				break
			}
		}
	}
	return out
}

// writeLocks writes what threads wait for each other for, first of all, and returns
// the rows that it left.
func writeLocks(b *strings.Builder, rows []BlockedThread, o TableOptions) []BlockedThread {
	said := map[int]bool{}
	for _, circle := range circles(rows) {
		b.WriteString("\n")
		var steps []string
		for _, t := range circle {
			steps = append(steps, fmt.Sprintf("%s waits for the lock %s that %d holds", t.name(), t.Lock, t.Holder))
			said[t.TID] = true
		}
		paragraph(b, o, fmt.Sprintf("DEADLOCK of %s for %s: %s", counted(len(circle), "thread", "threads"), circle[0].since(), strings.Join(steps, "; ")))
	}
	for _, q := range queues(rows) {
		b.WriteString("\n")
		longest := slices.MaxFunc(q.waiting, func(a, b BlockedThread) int { return cmp.Compare(a.Seconds, b.Seconds) })
		text := fmt.Sprintf("%d threads of %s[%d] wait for one lock, %s, the longest for %s", len(q.waiting), longest.Comm, q.pid, q.lock, longest.since())
		if q.holder == 0 {
			text += "; the lock does not show who holds it"
		} else {
			text += "; " + holding(rows, q.holder)
			said[q.holder] = true
		}
		paragraph(b, o, text)
		for _, t := range q.waiting {
			said[t.TID] = true
		}
	}
	if len(said) == 0 {
		return rows
	}
	b.WriteString("\n")
	return slices.DeleteFunc(slices.Clone(rows), func(t BlockedThread) bool { return said[t.TID] })
}

// holding says what the thread that holds a lock does itself.
func holding(rows []BlockedThread, tid int) string {
	for _, t := range rows {
		if t.TID != tid {
			continue
		}
		text := fmt.Sprintf("%s holds it, and sits in %s for %s", t.name(), t.call(), t.since())
		if t.On != "" {
			text += ": " + t.On
		}
		return text
	}
	return fmt.Sprintf("thread %d holds it, and was not stuck in a call itself: it ran, or moved on between the samples", tid)
}
