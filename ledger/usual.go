package ledger

import (
	"slices"

	"snag/recording"
	"snag/scene"
)

// Usual is what a party's answers take when all is well, in the recording of a better time.
type Usual struct {
	Answered       uint64
	Mean, P50, P99 float64 // s

	each   map[Account]float64 // s of each answer
	delays map[Account]float64 // the part of it that was delay
}

// fewUsual answers in the better time tell nothing of what is usual.
const fewUsual = 20

// usual gives each party what it took in the recording of a better time, if it is there.
func (l *Ledger) usual(r *recording.Recording) {
	if r.Baseline == nil {
		return
	}
	then := Build(scene.Build(r.Baseline), r.Baseline)
	for _, p := range l.Parties {
		q := then.same(p)
		if q == nil || q.Answered < fewUsual {
			continue
		}
		n := float64(q.Answered)
		p.Usual = &Usual{Answered: q.Answered, Mean: q.Mean, P50: q.P50, P99: q.P99, each: map[Account]float64{}, delays: map[Account]float64{}}
		for _, e := range q.Entries {
			p.Usual.each[e.Account] += e.Seconds / n
			p.Usual.delays[e.Account] += e.delay() / n
		}
		p.delayed = map[int]float64{}
		for at, t := range p.took {
			p.delayed[at] = max(0, t.sum-float64(t.n)*q.Mean)
		}
	}
}

// same is the party of another recording in its ledger: the same program at the same address,
// or else at the same port, if there is one such.
func (l *Ledger) same(p *Party) *Party {
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

// more is how much longer than usual the answers of a party took for an account, or were
// delayed there, request-seconds; long polls take as long as nothing comes.
func (u *Usual) more(p *Party, a Account, seconds, delay float64) float64 {
	n := float64(p.Answered)
	if a == Parked {
		return max(0, delay-u.delays[a]*n)
	}
	return max(0, seconds-u.each[a]*n, delay-u.delays[a]*n)
}

// Slower tells whether a party's answers take twice as long as usual.
func (p *Party) Slower() bool {
	return p != nil && p.Usual != nil && p.Answered >= fewRequests && p.Mean >= max(2*p.Usual.Mean, p.Usual.Mean+feltMore)
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
