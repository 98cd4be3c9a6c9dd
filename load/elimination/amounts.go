package elimination

import (
	"fmt"

	"snag/internal/units"
)

// A suspect that takes at least this share of the time is found, and one that takes less than the
// other is ruled out. Between them it stays open: it takes some, and does not explain the answer. Nor is one
// found by the time that it takes where the answer is not slow.
const (
	found    = 0.4
	ruledOut = 0.15
)

// least is what counts at all, of what is called slow.
func (m *Measures) least() float64 { return m.Slow / 2 }

// whole is what a request takes on a new connection, or on a kept one where no new one was tried.
func (m *Measures) whole() float64 {
	if m.Fresh != nil && m.Fresh.Whole.N > 0 {
		return m.Fresh.Whole.P50
	}
	return m.kept()
}

// kept is what a request takes on a kept connection; 0: not measured.
func (m *Measures) kept() float64 {
	if m.Kept != nil && m.Kept.N > 0 {
		return m.Kept.P50
	}
	return 0
}

// rtt is the shortest round trip that anything showed; false: nothing did.
func (m *Measures) rtt() (float64, bool) {
	least := 0.0
	take := func(v float64) {
		if v > 0 && (least == 0 || v < least) {
			least = v
		}
	}
	for _, a := range m.Connect {
		take(a.Least)
	}
	if m.Path != nil {
		take(m.Path.Least)
		if m.Path.Echo != nil {
			take(m.Path.Echo.Min)
		}
	}
	return least, least > 0
}

// queuedTrip is what half of the round trips take, where that may be far more than the shortest.
func (m *Measures) queuedTrip() (usual float64, queued bool) {
	if m.Local || m.Network != "tcp" || pathQueue(m).State == RuledOut {
		return 0, false
	}
	for _, a := range m.Connect {
		if a.N >= fewSamples && 2*a.Delayed < a.Tried {
			return a.P50, true
		}
	}
	return 0, false
}

// share judges a suspect by the time that it takes of another.
func (m *Measures) share(by string, cost, of float64, what string) Standing {
	s := Standing{By: by, Cost: max(0, cost), Why: fmt.Sprintf("%s: %s of %s", what, units.Short(max(0, cost)), units.Short(of))}
	switch {
	case of >= m.Slow && cost >= m.least() && cost >= found*of:
		s.State = Found
	case cost < m.least()/2 || cost < ruledOut*of:
		s.State = RuledOut
	default:
		s.State = Open
	}
	return s
}

// missing is a suspect of which an experiment says nothing.
func (m *Measures) missing(by string) Standing {
	if why := m.Missing[by]; why != "" {
		return Standing{Why: "not measured: " + why}
	}
	return Standing{Why: "not measured"}
}

func short(s float64) string { return units.Short(s) }

// RoundTrip is the shortest round trip; 0: none is known.
func (m *Measures) RoundTrip() float64 {
	rtt, _ := m.rtt()
	return rtt
}
