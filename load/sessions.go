package load

import "time"

// Sessions is what became of sessions, each of which sends a message in a fixed time and waits for the answer before
// the next. Where the service answers fewer messages than are due, each session falls behind its own time.
type Sessions struct {
	All int
	// Missed is how many had a message that was not answered within the deadline; nil: there is no deadline.
	Missed *int
	// Silent is how many got no answer in the time that counts.
	Silent int
	// FirstMissed is when the first message that missed the deadline was due, after the first message of all, also if
	// requests did not count yet; nil: none did.
	FirstMissed *time.Duration
	// Needed is messages per second of all sessions together.
	Needed float64
	// Capacity is how many messages per second the service answered while it had more than it could answer; nil: it
	// answered all that were due, so that its capacity was not seen.
	Capacity *float64
	// Growth is how much longer the answers take with each second of the sessions' own time, in seconds: the slope of
	// a line through the delays over when the messages were due. nil: there are too few answers.
	Growth *float64
	// Predicted is the same by arithmetic, (Needed − Capacity) / Capacity: message k of all is due after k/Needed and
	// answered after k/Capacity. nil: as Capacity.
	Predicted *float64
	// Worst is Growth of the session whose delay grows fastest.
	Worst *float64
}

// Carries is how many such sessions the service's capacity is enough for; known: it was seen.
func (s *Sessions) Carries() (n int, known bool) {
	if s.Capacity == nil {
		return 0, false
	}
	return int(*s.Capacity / s.Needed * float64(s.All)), true
}

// session is what became of one connection's messages.
type session struct {
	answers int64
	growth  growth        // of the delay over when each message was due
	missed  bool          // the deadline, while requests count
	first   time.Duration // when the first one that missed it was due, after the start; −1: none
}

func newSessions(n int) []session {
	out := make([]session, n)
	for i := range out {
		out[i].first = -1
	}
	return out
}

// answered notes an answer that came now.
func (s *session) answered(r *run, q *openRequest) {
	if r.now >= r.from && r.now < r.until {
		s.answers++
		s.growth.add(q.due.Seconds(), (r.now - q.due).Seconds())
	}
	s.miss(r, q.due, r.now)
}

// miss notes whether a message that was answered, or not yet answered, at a time missed the deadline.
func (s *session) miss(r *run, due, at time.Duration) {
	if r.plan.Deadline == 0 || at-due <= r.plan.Deadline {
		return
	}
	if s.first < 0 {
		s.first = due
	}
	s.missed = s.missed || at >= r.from
}

// unanswered notes the messages that have no answer at the end.
func (r *run) unanswered() {
	for i := range r.conns {
		c := &r.conns[i]
		switch next := r.plan.due(c.next); {
		case c.at == asking || c.at == waiting:
			r.sessions[i].miss(r, c.due, r.now)
		case next < r.until: // what becomes of it after that time is not known
			r.sessions[i].miss(r, next, r.until)
		}
	}
}

// sessionsOf sums up what became of all.
func sessionsOf(all []session, r *Result) *Sessions {
	out := &Sessions{All: len(all), Needed: r.Plan.Rate}
	var together growth
	missed := 0
	for i := range all {
		s := &all[i]
		if s.answers == 0 {
			out.Silent++
		}
		together.join(s.growth)
		if v, known := s.growth.slope(); known && (out.Worst == nil || v > *out.Worst) {
			out.Worst = &v
		}
		if !s.missed {
			continue
		}
		missed++
		if out.FirstMissed == nil || s.first < *out.FirstMissed {
			out.FirstMissed = &s.first
		}
	}
	if r.Plan.Deadline > 0 {
		out.Missed = &missed
	}
	if v, known := together.slope(); known {
		out.Growth = &v
	}
	// Behind by a message each, or more: fewer may be due just when the time is over.
	if c := r.Rate(); r.Behind >= int64(len(all)) && c > 0 && c < leastAchieved*out.Needed {
		predicted := (out.Needed - c) / c
		out.Capacity, out.Predicted = &c, &predicted
	}
	return out
}
