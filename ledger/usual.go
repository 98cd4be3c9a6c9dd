package ledger

import (
	"slices"
	"strconv"

	"snag/recording"
	"snag/scene"
)

// Usual is what a party's answers take when all is well: in the recording of a better time, or
// by the objective that the user gave.
type Usual struct {
	// Objective is how long an answer may take, and Late the share of those that took longer;
	// 0 where a better time tells.
	Objective, Late float64
	Answered        uint64
	Mean, P50, P99  float64 // s
	// Times are how many earlier times of the host it was measured at, and Since the oldest of
	// them; 0 where a recording of a better time was given.
	Times int
	Since recording.Time

	each   map[Account]float64 // s of each answer
	delays map[Account]float64 // the part of it that was delay
}

// fewUsual answers in the better time tell nothing of what is usual.
const fewUsual = 20

// usual gives each party what it took in the recording of a better time, if it is there, or else
// at earlier times of the host, if it takes far longer now. What took as long at those times may
// have been bad then too: it is judged without them.
func (l *Ledger) usual(r *recording.Recording) {
	before := r.Earlier
	if r.Baseline != nil {
		before = []*recording.Recording{r.Baseline}
	}
	var then []*Ledger
	for _, one := range before {
		then = append(then, Build(scene.Build(one), one))
	}
	for _, p := range l.Parties {
		u := p.usualOf(then)
		if u == nil || r.Baseline == nil && !p.exceeds(u) {
			continue
		}
		if r.Baseline != nil {
			u.Times, u.Since = 0, 0
		}
		p.Usual = u
		p.delayed = map[int]float64{}
		for at, open := range p.open {
			p.delayed[at] = max(0, open-float64(p.answers[at])*u.Mean)
		}
	}
}

// usualOf is what a party took at other times; nil where too little is known of them. Of several
// times the slowest counts: a service is slow every night while the backup runs.
func (p *Party) usualOf(then []*Ledger) *Usual {
	u := &Usual{each: map[Account]float64{}, delays: map[Account]float64{}}
	looked := 0.0
	for _, l := range then {
		q := l.Same(p)
		if q == nil || p.Answered == 0 || q.Answered == 0 {
			continue
		}
		u.Times++
		if u.Since == 0 || l.Window.Start < u.Since {
			u.Since = l.Window.Start
		}
		u.Answered += q.Answered
		u.Mean, u.P50, u.P99 = max(u.Mean, q.Mean), max(u.P50, q.P50), max(u.P99, q.P99)
		if q.Share(Unseen) > 1-wellSeen && len(then) > 1 { // a ring keeps no states for long
			continue
		}
		looked += float64(q.Answered)
		for _, e := range q.Entries {
			u.each[e.Account] += e.Seconds
			u.delays[e.Account] += e.delay()
		}
	}
	if u.Answered < fewUsual {
		return nil
	}
	for _, by := range []map[Account]float64{u.each, u.delays} {
		for a := range by {
			by[a] /= looked
		}
	}
	return u
}

// objective gives the parties that the user asked about what their answers may take.
func (l *Ledger) objective(r *recording.Recording) {
	t := r.Manifest.Target
	if t.Objective <= 0 {
		return
	}
	for _, p := range l.Parties {
		elsewhere := t.Port != 0 && recording.Port(address(p.Subject)) != strconv.Itoa(t.Port) ||
			len(t.PIDs) > 0 && !slices.ContainsFunc(p.PIDs, func(pid int) bool { return slices.Contains(t.PIDs, pid) })
		if p.Role != Serves || p.Answered == 0 || elsewhere {
			continue
		}
		p.Usual = p.within(t.Objective)
	}
}

// within is the party with all its answers in that time: what they took beyond it is missing from
// all accounts alike.
func (p *Party) within(objective float64) *Usual {
	n := float64(p.Answered)
	late, over := 0.0, 0.0
	if len(p.hist) == 0 && p.Mean > objective { // only their mean is known
		late = n
	}
	for i, c := range p.hist {
		if at := recording.TurnBound(i); at > objective {
			late += float64(c)
			over += float64(c) * (at - objective)
		}
	}
	over = min(p.Mean, max(over/n, p.Mean-objective))
	u := &Usual{Objective: objective, Late: late / n, Answered: p.Answered, Mean: p.Mean - over, each: map[Account]float64{}, delays: map[Account]float64{}}
	if p.Mean == 0 || p.Demand == 0 {
		return u
	}
	for _, e := range p.Entries {
		kept := (1 - over/p.Mean) / n
		u.each[e.Account] += e.Seconds * kept
		u.delays[e.Account] += e.delay() * kept
	}
	return u
}

// Same is the party of another recording in its ledger: the same program at the same address,
// or else at the same port, if there is one such.
func (l *Ledger) Same(p *Party) *Party {
	like := func(at func(string) string) *Party {
		var all []*Party
		for _, q := range l.Parties {
			if q.Role == p.Role && q.Subject.Comm == p.Subject.Comm && at(address(q.Subject)) == at(address(p.Subject)) {
				all = append(all, q)
			}
		}
		if len(all) > 1 {
			all = slices.DeleteFunc(all, func(q *Party) bool { return q.netns != p.netns })
		}
		if len(all) != 1 {
			return nil
		}
		return all[0]
	}
	if q := like(func(a string) string { return a }); q != nil {
		return q
	}
	return like(recording.Port)
}

// Grown is how long an account takes of each answer of a party, and took of its usual ones, s;
// false where it did not double.
func (p *Party) Grown(a Account) (now, was float64, ok bool) {
	if p.Usual == nil || p.Usual.Objective > 0 || p.Answered < fewRequests {
		return 0, 0, false
	}
	now, was = p.Of(a)/float64(p.Answered), p.Usual.each[a]
	return now, was, now >= max(2*was, was+feltMore)
}

// more is what the answers of a party took longer than usual, by account, request-seconds;
// delays are what was delay there. Together it is no more than they took longer in all: what one
// time was seen in one account may be in another, or unseen, the next time. Long polls take as
// long as nothing comes.
func (u *Usual) more(p *Party, delays map[Account]float64) map[Account]float64 {
	n := float64(p.Answered)
	out, sum := map[Account]float64{}, 0.0
	for a, delay := range delays {
		more := max(0, delay-u.delays[a]*n)
		if a != Parked {
			more = max(more, p.Of(a)-u.each[a]*n)
		}
		out[a] = more
		sum += more
	}
	if longer := max(0, p.Demand-u.Mean*n); sum > longer { // those without an answer too
		for a := range out {
			out[a] *= longer / sum
		}
	}
	return out
}

// Slower reports whether a party's answers take twice as long as usual.
func (p *Party) Slower() bool {
	return p != nil && p.Usual != nil && p.Usual.Objective == 0 && p.slowerThan(p.Usual)
}

func (p *Party) slowerThan(u *Usual) bool {
	return p.Answered >= fewRequests && p.Mean >= max(2*u.Mean, u.Mean+feltMore)
}

// exceeds reports whether a party's answers, or the longest of them, take far longer than usual.
func (p *Party) exceeds(u *Usual) bool { return p.slowerThan(u) || p.tailBeyond(u) }

func (p *Party) tailBeyond(u *Usual) bool {
	return p.Answered >= fewTail && p.P99 >= max(tailTimes*u.P99, u.P99+feltEach)
}

// Beyond is the share of what the answers of a process take beyond their objective that accounts
// have, and the objective, s; 0 where there is none, or they meet it.
func (l *Ledger) Beyond(pid int, accounts ...Account) (objective, share float64) {
	if l == nil {
		return 0, 0
	}
	for _, d := range l.Felt {
		if u := d.Party.Usual; u != nil && u.Objective > 0 && slices.Contains(d.Party.PIDs, pid) && d.Of(accounts) > share {
			objective, share = u.Objective, d.Of(accounts)
		}
	}
	return objective, share
}

// CallsTo are the calls from a network namespace to an address; nil: there are none.
func (l *Ledger) CallsTo(netns uint64, address string) *Party {
	if l == nil {
		return nil
	}
	for _, p := range l.Parties {
		if p.Role == Calls && p.Address == address && p.from == netns {
			return p
		}
	}
	return nil
}
