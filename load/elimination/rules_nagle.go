package elimination

import (
	"fmt"
)

func nagleClient(m *Measures) Standing {
	if m.NoDelay {
		return Standing{State: RuledOut, By: SocketOptions, Why: "TCP_NODELAY is set on this side"}
	}
	return m.option("TCP_NODELAY")
}

func nagleService(m *Measures) Standing { return m.option("TCP_QUICKACK") }

// leastHeld is less than the shortest delayed acknowledgement: 40 ms on Linux (tcp(7)).
const leastHeld = 0.025

// CanHold reports whether an answer takes long enough for a delayed acknowledgement to be in it.
func (m *Measures) CanHold() bool {
	rtt, _ := m.rtt()
	return m.kept()-rtt >= leastHeld
}

func (m *Measures) option(name string) Standing {
	if !m.Did(SocketOptions) {
		return m.missing(SocketOptions)
	}
	for _, o := range m.Options {
		if o.Name != name {
			continue
		}
		if o.Why != "" || len(o.Pairs) == 0 {
			return Standing{Why: "not measured: " + either(o.Why, "too few answers")}
		}
		last := o.Pairs[len(o.Pairs)-1]
		s := Standing{By: SocketOptions, Why: fmt.Sprintf("half within %s, with %s on this side within %s", short(last[0]), name, short(last[1]))}
		switch {
		case o.Frees:
			s.State, s.Cost = Found, last[0]-last[1]
		case last[0]-m.RoundTrip() < leastHeld:
			s.Why += ": it was not that slow again"
		case o.same():
			s.State = RuledOut
		}
		return s
	}
	if m.kept() > 0 && !m.CanHold() {
		return Standing{State: RuledOut, By: SocketOptions, Why: fmt.Sprintf("half of the answers come within %s: no delayed acknowledgement, 40 ms, is in them", short(m.kept()))}
	}
	return Standing{Why: "not measured"}
}

// same reports that in no pair the change took much of the time away.
func (o Option) same() bool {
	for _, p := range o.Pairs {
		if p[1] < 0.7*p[0] {
			return false
		}
	}
	return true
}
