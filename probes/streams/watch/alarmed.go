package watch

import "time"

// How long the alarms wait, and remember.
const (
	gather       = time.Second     // from the first stream that stops to the call: those that stop with it are told in the same
	verdictAfter = 5 * time.Minute // an alarm went out so long ago at the most, or its verdict is told no more
	mostAwaiting = 2000            // alarms that may await their verdict
)

// alarmed is what the alarms know of one stream.
type alarmed struct {
	key   string
	alarm Alarm // of its latest freeze, as it was last said
	seen  bool  // in this tick
	bad   bool  // it stands
	first time.Time

	// What is still to be told of it.
	pending bool   // the freeze; until then no end of it
	end     *Alarm // that it is well, or no longer watched
	ended   time.Time
	verdict *Alarm
	until   time.Time // the freeze is not told before, as a verdict is on its way
	limit   string    // the rule that holds the freeze back; "" for none
	next    time.Time // it is not looked at before

	// What was told of it.
	running bool      // the call is under way
	last    time.Time // when the last call began; zero: never
	sent    Alarm     // what it told, with how that went on
	asks    bool      // that call's verdict has not been told
}

// frozen takes that the stream has no frames at now. ends says that ends are told,
// too; those who are not told them wait for a verdict first. It reports whether a
// freeze before this one had not been told yet.
func (e *alarmed) frozen(a Alarm, now time.Time, ends bool) (untold bool) {
	if !e.bad {
		untold = e.pending
		if !untold {
			e.first, e.until = now, time.Time{}
			if a.Awaited && !ends {
				e.until = now.Add(awaited)
			}
		}
		e.bad, e.pending, e.next = true, true, time.Time{}
	}
	if !a.Awaited {
		e.until = time.Time{}
	}
	e.alarm, e.seen = a, true
	if !e.pending {
		e.sent = a
	}
	return untold
}

// over takes that the freeze is: its stream is well (a says since when and for how
// long), or no longer watched.
func (e *alarmed) over(a Alarm, now time.Time, ends bool) {
	if !e.bad {
		return
	}
	e.bad = false
	gone := a.Event == AlarmGone
	if e.pending {
		e.alarm.For, e.alarm.Over = a.For, !gone
	} else {
		e.sent.For, e.sent.Over = a.For, !gone
	}
	if ends && (!e.pending || gone) { // else the freeze is told as one that is over
		e.end, e.ended = &a, now
	}
}

// judged takes what the host's recording told. ends as of frozen.
func (e *alarmed) judged(j *Judged, ends bool) {
	if e.pending {
		e.alarm.judge(j)
	}
	if !ends || !e.asks {
		return
	}
	v := e.sent
	v.Event, v.Judged, v.Verdict = AlarmVerdict, j, j.Text
	e.verdict, e.asks = &v, false
}

// told takes that a call tells the freeze at now.
func (e *alarmed) told(now time.Time, asks bool) {
	e.pending, e.limit, e.next, e.until = false, "", time.Time{}, time.Time{}
	e.last, e.sent = now, e.alarm
	e.asks = asks && e.alarm.Judged == nil
}

// done reports whether there is nothing more to know of it.
func (e *alarmed) done(now time.Time) bool {
	if now.Sub(e.last) > verdictAfter {
		e.asks = false
	}
	return !e.bad && !e.pending && e.end == nil && e.verdict == nil && !e.running && !e.asks
}

// incident is when a stream of each server that stands was last told: one that stops
// there meanwhile is of the same incident.
func incident(streams map[string]*alarmed) map[string]time.Time {
	last := map[string]time.Time{}
	for _, e := range streams {
		if s := e.alarm.Server; s != "" && e.bad && !e.pending && !e.alarm.once() && e.last.After(last[s]) {
			last[s] = e.last
		}
	}
	return last
}
