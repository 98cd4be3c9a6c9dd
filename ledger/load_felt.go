package ledger

import (
	"slices"
	"sort"

	"snag/recording"
	"snag/scene"
)

// feltByLoads adds to the delays those that only the clients of a load meet: what they wait for a free
// connection while others of theirs are open, and what takes longer than the objective since it was due.
func (l *Ledger) feltByLoads(s *scene.Scene, r *recording.Recording) {
	for i := range l.Loads {
		d, ok := l.Loads[i].delay(l, s, r)
		if !ok || slices.ContainsFunc(l.Felt, func(have Delay) bool { return have.Party == d.Party }) {
			continue
		}
		l.Felt = append(l.Felt, d)
		l.Faint = slices.DeleteFunc(l.Faint, func(have Delay) bool { return have.Party == d.Party })
	}
	sort.SliceStable(l.Felt, func(i, j int) bool { return l.Felt[i].Held > l.Felt[j].Held })
}

// delay is what a load's requests were held up by the service that it asked, where people would notice.
// Figures that are not the service's accuse nobody.
func (l *Load) delay(of *Ledger, s *scene.Scene, r *recording.Recording) (d Delay, ok bool) {
	row, p := l.Row, l.Server
	if p == nil || row.Parts == nil || row.NotTheServices != "" || row.Answered < fewRequests || p.Demand <= 0 {
		return d, false
	}
	whole, by := row.Parts.Whole(), map[Account]float64{}
	if whole <= 0 {
		return d, false
	}
	switch {
	case p.Usual != nil && p.Usual.Objective > 0:
		late, beyond := lateBy(r, row, p.Usual.Objective)
		if late < lateMost {
			return d, false
		}
		d.Late = late
		p.among(by, beyond)
	case p.Usual != nil: // compared with a better time, in which nobody loaded it
		return d, false
	default:
		own := of.delayOf(s, r, p)
		for _, part := range own.By {
			by[part.Account] += part.Share * own.Seconds / p.Demand * l.AtServer
		}
		p.among(by, row.Parts.Waiting)
	}
	for _, each := range by {
		d.Each += each
	}
	d.Party, d.Load, d.Share = p, l, min(1, d.Each/whole)
	if d.Each <= 0 || p.Usual == nil && (d.Share < feltShare || d.Each < feltEach) {
		return d, false
	}
	d.By = parts(by, d.Each)
	d.Seconds = d.Each * float64(row.Answered)
	if length := row.End.Sub(row.T).Seconds(); length > 0 {
		d.Held = d.Seconds / length
	}
	return d, true
}

// among adds to accounts a time in which a party's requests kept others waiting: for what they waited
// for themselves.
func (p *Party) among(by map[Account]float64, seconds float64) {
	for _, e := range p.Entries {
		by[e.Account] += seconds * e.Seconds / p.Demand
	}
}

// lateBy is the share of a load's requests that were not answered within an objective since they were due, and
// by how much the answers exceeded it on average, s. What was lost or never sent is late, and was waited for
// that long for nothing.
func lateBy(r *recording.Recording, row recording.Load, objective float64) (share, beyond float64) {
	late, over, n := 0.0, 0.0, 0.0
	for _, s := range r.LoadSeconds {
		if s.Target != row.Target {
			continue
		}
		for i, c := range s.DueHist {
			n += float64(c)
			if at := recording.TurnBound(i); at > objective {
				late += float64(c)
				over += float64(c) * (at - objective)
			}
		}
	}
	if row.Deadline == objective { // then they are counted, and not told by buckets
		late = float64(row.Late)
	}
	none := float64(row.Behind)
	for _, lost := range row.Lost {
		none += float64(lost)
	}
	all := max(float64(row.Asked), n+none)
	if all == 0 {
		return 0, 0
	}
	over = max(over, n*(row.Parts.Whole()-objective))
	return min(1, (late+none)/all), (over + none*objective) / max(1, n)
}
