package elimination

import (
	"fmt"

	"snag/internal/units"
)

// clientBusy: what a server in snag's own process takes is this host's doing.
func clientBusy(m *Measures) Standing {
	if m.Own == nil || m.Own.N == 0 {
		return m.missing(OwnServer)
	}
	of := m.kept()
	if of == 0 {
		of = m.whole()
	}
	cost := max(m.Own.P50, m.Own.LagP50)
	late := max(m.Own.P90, m.Own.LagP90)
	s := Standing{By: OwnServer, Cost: cost, Why: fmt.Sprintf("an empty server in snag's own process answers within %s, 1 in 10 later than %s", short(m.Own.P50), short(late))}
	switch {
	case cost >= m.least() && cost >= ruledOut*of: // it is part of all that is measured afterwards
		s.State = Found
	case late < m.least()/2:
		s.State = RuledOut
	}
	return s
}

func resolver(m *Measures) Standing {
	r := m.Resolve
	switch {
	case r == nil:
		return m.missing(Lookup)
	case r.Literal:
		return Standing{State: RuledOut, By: Lookup, Why: "the target is an address: no name is looked up"}
	case r.N == 0 || r.Failed > r.N:
		return Standing{State: Found, By: Lookup, Why: fmt.Sprintf("%s of %s fail: %s", units.Plural(r.Failed, "lookup"), units.Count(float64(r.N+r.Failed)), r.Why)}
	}
	s := m.share(Lookup, r.P50, max(m.whole(), r.P50), "looking up the name takes")
	if s.State == RuledOut && (r.Failed > 0 || r.Most >= m.Slow) {
		s.State, s.Why = Open, fmt.Sprintf("one lookup of %d took %s, half of them %s", r.N, short(r.Most), short(r.P50))
	}
	return s
}

func deadAddress(m *Measures) Standing {
	if len(m.Connect) == 0 {
		return m.missing(Connects)
	}
	var dead []Address
	for _, a := range m.Connect {
		if a.N == 0 && a.Tried > 0 {
			dead = append(dead, a)
		}
	}
	if len(dead) == 0 {
		return Standing{State: RuledOut, By: Connects, Why: fmt.Sprintf("%d of %s answer", len(m.Connect), addresses(len(m.Connect)))}
	}
	a := dead[0]
	how := "does not answer"
	if a.Refused > 0 {
		how = "refuses connections: nothing listens there"
	}
	s := Standing{State: Found, By: Connects, Why: fmt.Sprintf("%s %s (%d of %s)", a.Address, how, len(dead), addresses(len(m.Connect)))}
	s.Proves = a.Refused > 0 // its host answers for it; silence has other causes
	if a.Silent > 0 && a.Alive != nil && *a.Alive {
		s.State, s.Why = Open, s.Why+"; its host answers ICMP echo, so that a full listen queue or a filter is as likely"
	}
	return s
}

func addresses(n int) string {
	if n == 1 {
		return "1 address"
	}
	return fmt.Sprintf("%d addresses", n)
}

// listenQueue: a SYN that finds the queue full is dropped, as if it had been lost. Loss hits other
// packets as well.
func listenQueue(m *Measures) Standing {
	tried, delayed, silentAlive := 0, 0, ""
	for _, a := range m.Connect {
		if a.N > 0 {
			tried, delayed = tried+a.Tried, delayed+a.Delayed
		} else if a.Silent > 0 && a.Alive != nil && *a.Alive {
			silentAlive = a.Address
		}
	}
	if tried == 0 && silentAlive == "" {
		return m.missing(Connects)
	}
	share := float64(delayed) / float64(max(1, tried))
	s := Standing{By: Connects, Why: fmt.Sprintf("%d of %s waited for a SYN to be sent again", delayed, units.Plural(tried, "connect"))}
	switch {
	case silentAlive != "":
		s.State, s.Why = Found, silentAlive+" takes no connection, though its host answers ICMP echo"
	case delayed == 0 && tried >= fewConnects:
		s.State = RuledOut
	case delayed >= 2 && share >= leastDelayed && m.Local:
		s.State = Found
	case delayed >= 2 && share >= leastDelayed:
		lost, of, known := m.lost()
		if known && lost/of < share/3 {
			s.State, s.By = Found, TheWay
			s.Why += fmt.Sprintf(", and of %s other packets %s were lost", units.Count(of), units.Count(lost))
		}
	}
	return s
}

const (
	// fewConnects would hardly show a listen queue that is full now and then.
	fewConnects  = 15
	leastDelayed = 0.1
)
