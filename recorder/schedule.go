package recorder

import (
	"time"

	"snag/recording"
)

// schedule decides when to judge and what belongs to one incident. It does no I/O.
//
// Ten seconds after the trigger fired, the recording is judged. If that shows affected clients or
// streams, an incident begins; it is judged again every minute until it is over, and one of which nothing is
// proved earlier: every half minute at its beginning, and after a new trigger. Trouble that exists
// from the first second fires no trigger, so the last 30 s are also judged every five minutes.
type schedule struct {
	incident bool
	began    recording.Time // when the trigger first fired
	noticed  recording.Time // when it last fired
	why      string         // its first reason
	waiting  bool           // a judgement is due
	stream   bool           // that of a stream: triggers without an incident before do not delay it
	asked    bool           // a judgement is in progress
	proved   bool           // the incident has a culprit
	fresh    recording.Time // when something was noticed in it after a quiet time; 0: what was is judged
	judged   recording.Time // time of the last judgement
	pause    time.Duration  // until the next one
}

const (
	settle      = 10 * time.Second // from the trigger to the judgement
	lead        = 25 * time.Second // judged before the trigger
	mostJudged  = 5 * time.Minute  // longest part of an incident that is judged
	calm        = 30 * time.Second // without a trigger: the incident may be over
	again       = time.Minute      // between judgements of an incident
	againSoon   = 30 * time.Second // of one of which nothing is proved
	beginning   = 3 * time.Minute  // of an incident
	quiet       = 15 * time.Second // without a trigger: what is noticed next is another thing
	leastPause  = 30 * time.Second // after a judgement that found nothing
	mostPause   = 10 * time.Minute
	looksEvery  = 5 * time.Minute // without a trigger
	looksAtLast = 30 * time.Second
)

// order is a time range to judge.
type order struct {
	From, To recording.Time
	Why      string // reason of the trigger; "" for a periodic judgement
	Last     bool   // the incident seems over: this judges all of it
	Ruled    bool   // a rule held: the result is kept in any case
	Known    []string
}

// notice is what was noticed in a second.
type notice struct {
	why    string   // reason of the trigger; "" for none
	ruled  bool     // a rule is the reason
	stream bool     // a watched stream is
	known  []string // streams that are known to be wrong, and affect nobody any more
}

// second is called once a second with what was noticed. It returns the range to judge now; false: none.
func (v *schedule) second(now recording.Time, n notice) (order, bool) {
	if v.judged == 0 {
		v.judged, v.pause = now, leastPause // nothing was recorded before
	}
	if n.why != "" {
		if v.incident && now.Sub(v.noticed) >= quiet {
			v.fresh = now
		}
		v.noticed = now
		if !v.incident && (!v.waiting || n.stream && !v.stream && !v.asked) {
			v.began, v.why, v.waiting, v.stream = now, n.why, true, n.stream
		}
	}
	since := now.Sub(v.judged)
	switch {
	case v.asked:
	case v.incident && since >= v.again(now):
		if v.why == "" { // only a judgement can end it
			return v.ask(now, order{From: now.Add(-looksAtLast), To: now}), true
		}
		to, over := now, now.Sub(v.noticed) >= calm
		if over {
			to = min(now, v.noticed.Add(settle))
		}
		return v.ask(now, order{From: max(v.began.Add(-lead), to.Add(-mostJudged)), To: to, Why: v.why, Last: over}), true
	case v.waiting && now.Sub(v.began) >= settle && since >= v.rest():
		return v.ask(now, order{From: max(v.began.Add(-lead), now.Add(-mostJudged)), To: now, Why: v.why}), true
	case !v.incident && !v.waiting && since >= looksEvery:
		v.began, v.why = now.Add(-looksAtLast), ""
		return v.ask(now, order{From: v.began, To: now}), true
	}
	return order{}, false
}

func (v *schedule) ask(now recording.Time, o order) order {
	v.asked, v.judged = true, now
	if now.Sub(v.fresh) >= settle {
		v.fresh = 0
	}
	return o
}

// again is the time between two judgements of the incident.
func (v *schedule) again(now recording.Time) time.Duration {
	young := v.why != "" && now.Sub(v.began) <= beginning
	if !v.proved && (young || v.fresh != 0 && now.Sub(v.fresh) >= settle) {
		return againSoon
	}
	return again
}

// looks reports whether now is the time for a closer look: the trigger has just fired, and what it is
// about will be judged.
func (v *schedule) looks(now recording.Time) bool {
	return v.waiting && v.began == now && !v.asked && now.Sub(v.judged)+settle >= v.rest()
}

// rest is the time between the last judgement and the next.
func (v *schedule) rest() time.Duration {
	if v.stream {
		return leastPause
	}
	return v.pause
}

// told processes the result of a judgement. It returns whether an incident begins or ends.
func (v *schedule) told(o order, hurt bool) (begins, ends bool) {
	v.asked, v.waiting, v.stream = false, false, false
	switch {
	case v.incident && (o.Last || !hurt && o.Why == ""):
		v.incident, v.pause = false, leastPause
		return false, true
	case v.incident:
		return false, false
	case hurt:
		v.incident, v.pause = true, leastPause
		return true, false
	case o.Why == "":
		return false, false
	}
	v.pause = min(mostPause, max(leastPause, 2*v.pause)) // triggers without an incident are judged less often
	return false, false
}
