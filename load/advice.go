package load

import (
	"fmt"

	"snag/internal/units"
)

// Advice is what a service does with more requests than it can answer in time, with numbers from what was
// measured. It is empty where no limit was found.
func (l Limit) Advice() (out []string) {
	if l.Breaks == 0 || l.AtBreaks == nil || l.Saturated == 0 || l.AtBreaks.Done == 0 {
		return nil
	}
	r := l.AtBreaks
	if r.Behind > 0 {
		grows := r.Plan.Rate - r.Rate()
		out = append(out, fmt.Sprintf("At %s requests/s it answers %s/s: %s requests more wait with each second, and each second adds %s to the wait.",
			units.Count(r.Plan.Rate), units.Count(r.Rate()), units.Count(grows), units.Short(1-r.Rate()/r.Plan.Rate)))
	}
	queue := l.Saturated * l.Bound.Below.Seconds()
	if queue < 1 {
		return out
	}
	out = append(out, fmt.Sprintf("It answers at most %s/s, so that of a queue longer than %s requests the last is not answered within %s. A shorter queue (the worker pool's, a listen backlog of %s) that turns the others away at once keeps those that are answered in time.",
		units.Count(l.Saturated), units.Count(queue), l.Bound.Below, units.Count(queue)))
	return append(out, fmt.Sprintf("Clients that give up after %s should say so (a deadline in the request), so that nothing is computed for a client that has gone.", l.Bound.Below))
}
