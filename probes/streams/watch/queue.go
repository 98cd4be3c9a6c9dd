package watch

import "time"

// queue holds what is to be told to one command or webhook, puts together what
// belongs together, and holds back what is over a limit: it is told later, or summed
// up, and never lost. It does nothing itself and reads no clock. Not for concurrent use.
type queue struct {
	name    string // for what a person is told
	ends    bool   // ends and verdicts are told, too
	limits  Limits
	guard   *Guard
	streams map[string]*alarmed
	held    Held // of freezes that are over: for the next call
	lost    Held // of calls that were given up: for the next call
	asking  int  // alarms that await their verdict
	ending  bool // the watch ends: nothing is waited for
	swept   time.Time
}

func newQueue(name string, ends bool, l Limits) *queue {
	return &queue{name: name, ends: ends, limits: l, guard: NewGuard(l), streams: map[string]*alarmed{}}
}

// take takes all that is wrong at now, and what no longer is.
func (q *queue) take(all []raised, now time.Time) {
	for _, e := range q.streams {
		e.seen = false
	}
	for _, r := range all {
		if r.well {
			q.well(r.Alarm, now)
		} else {
			q.frozen(r.Alarm, now)
		}
	}
	for _, e := range q.streams {
		if e.bad && !e.seen {
			gone := e.alarm
			gone.Event, gone.Verdict, gone.Judged = AlarmGone, "", nil
			q.over(e, gone, now)
		}
	}
	if now.Sub(q.swept) >= time.Minute {
		q.sweep(now)
	}
}

func (q *queue) frozen(a Alarm, now time.Time) {
	key := a.key()
	q.guard.Sick(key, now)
	e, ok := q.streams[key]
	if !ok {
		e = &alarmed{key: key}
		q.streams[key] = e
	}
	if e.frozen(a, now, q.ends) {
		q.held.add(a.Stream)
	}
}

func (q *queue) well(a Alarm, now time.Time) {
	q.guard.Well(a.key(), now)
	if e, ok := q.streams[a.key()]; ok {
		q.over(e, a, now)
	}
}

func (q *queue) over(e *alarmed, a Alarm, now time.Time) {
	e.over(a, now, q.ends)
	if e.pending && e.limit != "" && !q.ends {
		q.sumUp(e)
	}
}

// sumUp gives up that the freeze gets a call of its own: what a command was to end
// is over, and to act on it late might make the next. The next call tells of it.
func (q *queue) sumUp(e *alarmed) {
	q.held.add(e.alarm.Stream)
	e.pending, e.limit, e.next = false, "", time.Time{}
}

// judged takes what the host's recording told of some streams. There is no use in
// waiting for a verdict on the others: the next recording is not judged in time.
func (q *queue) judged(verdicts []Alarm) {
	for _, e := range q.streams {
		e.until = time.Time{}
	}
	for _, v := range verdicts {
		if e, ok := q.streams[v.key()]; ok {
			if e.asks {
				q.asking--
			}
			e.judged(v.Judged, q.ends)
		}
	}
}

// next is what goes out at now: room calls at the most. others is how many streams
// are well, and may stop yet.
func (q *queue) next(now time.Time, room, others int) (calls []Call, notes []string) {
	if len(q.streams) == 0 {
		return nil, nil
	}
	add := func(c Call) {
		if len(c.Alarms) > 0 {
			c.At = now
			c.Lost, q.lost = q.lost, Held{}
			calls = append(calls, c)
		}
	}
	if room > 0 {
		add(q.verdicts())
	}
	if room > len(calls) {
		add(q.overs(now))
	}
	call, notes := q.alarms(now, room-len(calls), others)
	add(call)
	return calls, notes
}

// ran takes that a call has ended.
func (q *queue) ran(c Call) {
	for _, a := range c.Alarms {
		if e, ok := q.streams[a.key()]; ok {
			e.running = false
		}
	}
}

// gaveUp takes that a call was not delivered: the next one says what it would have told.
func (q *queue) gaveUp(c Call) {
	q.held.take(c.Held)
	q.lost.take(c.Lost)
	for _, a := range c.Alarms {
		q.lost.add(a.Stream)
	}
}

// sweep forgets what is long ago: a list that changes for months must not make the
// queue grow.
func (q *queue) sweep(now time.Time) {
	q.swept = now
	q.guard.Sweep(now)
	for key, e := range q.streams {
		asked := e.asks
		if e.done(now) {
			delete(q.streams, key)
		}
		if asked && !e.asks {
			q.asking--
		}
	}
}
