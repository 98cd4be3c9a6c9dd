package loaded

import (
	"fmt"

	"snag/internal/units"
	"snag/load"
)

// sessions says which sessions fell behind, and how fast.
func sessions(r *load.Result) (out []string) {
	s := r.Sessions
	if s == nil {
		return nil
	}
	if s.Missed != nil {
		line := fmt.Sprintf("%d of %s missed the deadline of %s", *s.Missed, units.Plural(s.All, "session"), r.Plan.Deadline)
		if s.FirstMissed != nil {
			line += fmt.Sprintf(", the first with a message that was due %s after the load began", units.Short(s.FirstMissed.Seconds()))
		}
		out = append(out, line)
	}
	if s.Silent > 0 {
		out = append(out, fmt.Sprintf("%s got no answer at all", units.Plural(s.Silent, "session")))
	}
	if s.Capacity == nil {
		if r.Done > 0 {
			out = append(out, fmt.Sprintf("the service keeps up with %s messages/s: the delay does not grow", plain(s.Needed)))
		}
		return out
	}
	if s.Growth != nil {
		line := fmt.Sprintf("each second of a session adds %s to its delay, measured, and %s by arithmetic: (%s messages/s needed − %s answered) / %s",
			added(*s.Growth), added(*s.Predicted), plain(s.Needed), plain(*s.Capacity), plain(*s.Capacity))
		if s.Worst != nil && *s.Worst > unlike**s.Growth {
			line += fmt.Sprintf(". The sessions are not served alike: %s for the one that is served worst", added(*s.Worst))
		}
		out = append(out, line)
	}
	n, _ := s.Carries()
	return append(out, fmt.Sprintf("the service's capacity is enough for %s of this kind", units.Plural(n, "session")))
}

// unlike is how much faster than the average a session's delay grows that is not served as the others are.
const unlike = 1.5

// added writes a growth, which may be less than nothing where the delay shrinks.
func added(v float64) string {
	if v < 0 {
		return "−" + units.Short(-v)
	}
	return units.Short(v)
}

// sessionsJSON has times in seconds; null is what was not measured.
func sessionsJSON(s *load.Sessions) map[string]any {
	out := map[string]any{"all": s.All, "missed": s.Missed, "silent": s.Silent, "first_missed": nil, "needed": s.Needed,
		"capacity": s.Capacity, "carries": nil, "growth": s.Growth, "growth_predicted": s.Predicted, "growth_worst": s.Worst}
	if s.FirstMissed != nil {
		out["first_missed"] = s.FirstMissed.Seconds()
	}
	if n, known := s.Carries(); known {
		out["carries"] = n
	}
	return out
}
