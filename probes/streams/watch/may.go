package watch

import (
	"fmt"
	"time"
)

// dues are the streams that stopped and of which there is something to tell now, or in
// a moment, so that it may go with others. The end of the freeze before goes first.
func (q *queue) dues(now time.Time) (out []*alarmed) {
	for _, e := range q.streams {
		if (e.pending || e.bad && !e.alarm.once()) && (e.end == nil || !e.bad) && (q.ending || !now.Before(e.next) && now.Add(gather).After(e.until)) {
			out = append(out, e)
		}
	}
	return inOrder(out)
}

// may reports whether a stream may be told, whatever others are.
func (q *queue) may(e *alarmed, incident map[string]time.Time, now time.Time) Decision {
	switch at, stands := incident[e.alarm.Server]; {
	case e.running:
		return Decision{Limit: "the last call for a stream has not ended yet"}
	case q.ending && e.pending && q.ends:
		return Decision{Act: true} // the last word breaks no limit that matters
	case q.ending && !e.pending:
		return Decision{}
	case e.pending && stands && now.Before(at.Add(q.limits.Least)):
		return Decision{Next: at.Add(q.limits.Least), Limit: fmt.Sprintf(
			"streams that stop while others of their server stand are reported together, a call each %s at the most", short(q.limits.Least))}
	}
	return q.guard.One(e.key, now)
}

func (q *queue) mayCall(now time.Time, room int, may []*alarmed) Decision {
	if room <= 0 {
		return Decision{Limit: fmt.Sprintf("%d calls have not ended yet, which is the limit", maxRunning)}
	}
	if q.ending && q.ends {
		return Decision{Act: true}
	}
	return q.guard.All(now)
}

// tell makes the call, with what was held back before it.
func (q *queue) tell(streams []*alarmed, now time.Time) Call {
	var c Call
	var keys []string
	for _, e := range streams {
		if e.limit != "" {
			q.held.add(e.alarm.Stream)
		}
		asked := e.asks
		e.told(now, q.ends && (asked || q.asking < mostAwaiting))
		e.running = true
		if e.asks != asked {
			q.asking += map[bool]int{true: 1, false: -1}[e.asks]
		}
		if c.Alarms = append(c.Alarms, e.sent); !e.sent.once() {
			keys = append(keys, e.key)
		}
	}
	q.guard.Acted(keys, now)
	c.Held, q.held = q.held, Held{}
	return c
}
