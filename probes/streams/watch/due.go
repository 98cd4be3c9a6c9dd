package watch

import (
	"cmp"
	"strings"
	"time"

	"snag/internal/sorting"
)

// verdicts is one call for all that were judged.
func (q *queue) verdicts() Call {
	var out []*alarmed
	for _, e := range q.streams {
		if e.verdict != nil && !e.running {
			out = append(out, e)
		}
	}
	var c Call
	for _, e := range inOrder(out) {
		c.Alarms = append(c.Alarms, *e.verdict)
		e.verdict, e.running = nil, true
	}
	return c
}

// overs is one call for all streams whose freeze was told and is over. Others of
// the incident that are well in a moment are waited for.
func (q *queue) overs(now time.Time) Call {
	var out []*alarmed
	ripe, more := false, false
	for _, e := range q.streams {
		switch {
		case e.end != nil && (e.bad || !e.pending) && !e.running:
			out = append(out, e)
			ripe = ripe || now.Sub(e.ended) >= gather
		case e.bad && !e.pending:
			more = true
		}
	}
	var c Call
	if !ripe && more && !q.ending {
		return c
	}
	for _, e := range inOrder(out) {
		c.Alarms = append(c.Alarms, *e.end)
		e.end, e.running = nil, true
	}
	return c
}

// alarms is one call for all streams that are to be told as frozen or down, and what
// is to be said of those that are held back.
func (q *queue) alarms(now time.Time, room, others int) (Call, []string) {
	var may []*alarmed
	var held holds
	last := incident(q.streams)
	ripe := false
	for _, e := range q.dues(now) {
		full := q.ending || !e.pending || !now.Before(e.until) && (others == 0 || now.Sub(e.first) >= gather)
		if d := q.may(e, last, now); d.Act {
			may = append(may, e)
			ripe = ripe || full
		} else if full || d.Broken {
			q.hold(e, d, &held)
		}
	}
	if !ripe {
		return Call{}, held.notes(q)
	}
	d := q.mayCall(now, room, may)
	if d.Act {
		n := fits(may)
		c := q.tell(may[:n], now)
		may, d = may[n:], Decision{Next: now.Add(q.limits.Least), Limit: "a call has no room for more streams"}
		for _, e := range may {
			q.hold(e, d, &held)
		}
		return c, held.notes(q)
	}
	for _, e := range may {
		q.hold(e, d, &held)
		d.Broken = false // it is said once
	}
	return Call{}, held.notes(q)
}

// inOrder puts what was not told yet first, then who stopped first.
func inOrder(all []*alarmed) []*alarmed {
	sorting.By(all, func(a, b *alarmed) int {
		if a.pending != b.pending {
			return map[bool]int{true: -1, false: 1}[a.pending]
		}
		return cmp.Or(a.alarm.Onset.Compare(b.alarm.Onset), strings.Compare(a.key, b.key))
	})
	return all
}
