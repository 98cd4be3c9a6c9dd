package recorder

import (
	"time"

	"snag/recording"
)

// vigil decides when a recorder judges, and what is one incident. It does nothing itself.
//
// What the tripwire notices is judged once it has gone on for a while; where that finds somebody hurt
// an incident begins, which is judged again now and then until nobody is hurt any more. What is slow
// from the first second on trips nothing: so the last half minute is judged every some minutes, too.
type vigil struct {
	incident bool
	began    recording.Time // when it was first noticed
	noticed  recording.Time // when it was last
	why      string         // what was noticed first
	waiting  bool           // to be judged
	asked    bool           // it is being judged
	judged   recording.Time // the last time
	pause    time.Duration  // until the next
}

const (
	settle      = 10 * time.Second // from what is noticed to its judgement: how it goes on tells much
	lead        = 25 * time.Second // judged before it
	mostJudged  = 5 * time.Minute  // of an incident
	calm        = 30 * time.Second // without anything that is noticed: it may be over
	again       = time.Minute      // between judgements of an incident
	leastPause  = 30 * time.Second // between two that found nothing
	mostPause   = 10 * time.Minute
	looksEvery  = 5 * time.Minute // at what nobody noticed
	looksAtLast = 30 * time.Second
)

// order is what is to be judged.
type order struct {
	From, To recording.Time
	Why      string // what was noticed; "" nothing was
	Last     bool   // it seems to be over: this is the judgement of all of it
}

// second is told once a second what the tripwire noticed ("" nothing), and says what is to be judged
// now; false: nothing.
func (v *vigil) second(now recording.Time, why string) (order, bool) {
	if v.judged == 0 {
		v.judged, v.pause = now, leastPause // what was before the recorder began is not known
	}
	if why != "" {
		v.noticed = now
		if !v.incident && !v.waiting {
			v.began, v.why, v.waiting = now, why, true
		}
	}
	since := now.Sub(v.judged)
	switch {
	case v.asked:
	case v.incident && since >= again:
		if v.why == "" { // nothing but a judgement tells that it is over
			return v.ask(now, order{From: now.Add(-looksAtLast), To: now}), true
		}
		to, over := now, now.Sub(v.noticed) >= calm
		if over {
			to = min(now, v.noticed.Add(settle))
		}
		return v.ask(now, order{From: max(v.began.Add(-lead), to.Add(-mostJudged)), To: to, Why: v.why, Last: over}), true
	case v.waiting && now.Sub(v.began) >= settle && since >= v.pause:
		return v.ask(now, order{From: max(v.began.Add(-lead), now.Add(-mostJudged)), To: now, Why: v.why}), true
	case !v.incident && !v.waiting && since >= looksEvery:
		v.began, v.why = now.Add(-looksAtLast), ""
		return v.ask(now, order{From: v.began, To: now}), true
	}
	return order{}, false
}

func (v *vigil) ask(now recording.Time, o order) order {
	v.asked, v.judged = true, now
	return o
}

// told takes what a judgement found: whether somebody is hurt. It says what becomes of the incident.
func (v *vigil) told(o order, hurt bool) (begins, ends bool) {
	v.asked, v.waiting = false, false
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
	v.pause = min(mostPause, max(leastPause, 2*v.pause)) // what trips and hurts nobody is not judged again and again
	return false, false
}
