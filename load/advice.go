package load

import (
	"fmt"
	"time"

	"snag/internal/units"
)

// overload is a service that gets more requests than it can answer. Rates are of a second.
type overload struct {
	asked, answers float64       // at one rate that is too much; asked 0: that is said elsewhere
	most           float64       // answers at most, as far as was seen
	within         time.Duration // an answer that comes later is of no use
	unsure         bool          // the number of connections may be the limit
}

// shed is what a service does with more requests than it can answer in time, with numbers from what was measured.
func shed(o overload) (out []string) {
	if o.most <= 0 || o.answers <= 0 {
		return nil
	}
	if o.answers < leastAchieved*o.asked {
		out = append(out, fmt.Sprintf("At %s requests/s it answers %s/s: %s requests more wait with each second, and each second adds %s to the wait.",
			units.Count(o.asked), units.Count(o.answers), units.Count(o.asked-o.answers), units.Short(1-o.answers/o.asked)))
	}
	queue := o.most * o.within.Seconds()
	if queue < 1 {
		return out
	}
	limit := fmt.Sprintf("It answers at most %s/s, so that", units.Count(o.most))
	if o.unsure {
		limit = fmt.Sprintf("If more --conns bring no more than %s answers/s,", units.Count(o.most))
	}
	out = append(out, fmt.Sprintf("%s of a queue longer than %s requests the last is not answered within %s. A shorter queue (the worker pool's, a listen backlog of %s) that turns the others away at once keeps those that are answered in time.",
		limit, units.Count(queue), o.within, units.Count(queue)))
	return append(out, fmt.Sprintf("Clients that give up after %s should say so (a deadline in the request), so that nothing is computed for a client that has gone.", o.within))
}

// patience is how long an answer is of use: the deadline, or else the time after which a request is given up.
func (p Plan) patience() time.Duration {
	if p.Deadline > 0 {
		return p.Deadline
	}
	return p.Timeout
}

// Advice is what the service should do with more requests than it can answer in time. It is empty where no limit was
// found.
func (l Limit) Advice() []string {
	if l.Breaks == 0 || l.AtBreaks == nil || l.AtBreaks.Done == 0 {
		return nil
	}
	r := l.AtBreaks
	o := overload{asked: r.Plan.Rate, answers: r.Rate(), most: l.Saturated, within: l.Bound.Below}
	if r.Behind == 0 { // late, and not too many
		o.answers = o.asked
	}
	return shed(o)
}

// Advice is what the service should do with so many requests. It is empty where it answers them, or where the figures
// are not its own.
func (r *Result) Advice() []string {
	if !r.Overloaded() || r.Honest() != "" {
		return nil
	}
	return shed(overload{answers: r.Rate(), most: r.Rate(), within: r.Plan.patience(), unsure: true})
}
