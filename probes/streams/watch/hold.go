package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/internal/sorting"
)

// holds are alarms that a limit holds back from now on, by the limit.
type holds struct {
	by    []held
	lines []string
}

type held struct {
	limit string
	sum   Held
	next  time.Time // of the last of them
	later bool      // of some there is no call of their own
}

// hold holds a stream back. What was told already is no alarm that is lost.
func (q *queue) hold(e *alarmed, d Decision, all *holds) {
	e.next = d.Next
	if d.Broken {
		all.lines = append(all.lines, fmt.Sprintf("%s: %s: %s", q.name, e.alarm.Stream, d.Why))
	}
	if !e.pending {
		return
	}
	later := !e.bad && !q.ends
	if e.limit != d.Limit {
		all.add(d, e.alarm.Stream, later)
	}
	e.limit = d.Limit
	if later {
		q.sumUp(e)
	}
}

func (h *holds) add(d Decision, stream string, later bool) {
	i := slices.IndexFunc(h.by, func(x held) bool { return x.limit == d.Limit })
	if i < 0 {
		i = len(h.by)
		h.by = append(h.by, held{limit: d.Limit})
	}
	x := &h.by[i]
	x.sum.add(stream)
	x.later = x.later || later
	if d.Next.After(x.next) {
		x.next = d.Next
	}
}

// notes are lines for a person.
func (h *holds) notes(q *queue) []string {
	sorting.By(h.by, func(a, b held) int { return cmp.Compare(a.limit, b.limit) })
	for _, x := range h.by {
		h.lines = append(h.lines, fmt.Sprintf("%s: %s postponed: %s; sent %s", q.name, x.sum, x.limit, x.when(q.ends)))
	}
	return h.lines
}

func (x held) when(ends bool) string {
	at := "after that"
	if !x.next.IsZero() {
		at = "at " + x.next.UTC().Format("15:04:05")
	}
	switch {
	case x.later:
		return "with the next call"
	case !ends:
		return at + " if it still lasts then, else with the next call"
	}
	return at
}

// untold is what a person must know of what no call has told; "" for nothing.
func (q *queue) untold() string {
	sum := q.held
	var left []*alarmed
	for _, e := range q.streams {
		if e.pending {
			left = append(left, e)
		}
	}
	for _, e := range inOrder(left) {
		sum.add(e.alarm.Stream)
	}
	var text []string
	if sum.Alarms > 0 {
		text = append(text, sum.String()+" were postponed")
	}
	if q.lost.Alarms > 0 {
		text = append(text, q.lost.String()+" could not be delivered")
	}
	if len(text) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s, and the watch ended before the next call", q.name, strings.Join(text, ", "))
}
