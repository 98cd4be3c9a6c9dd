package elimination

import (
	"fmt"

	"snag/internal/units"
)

func tlsHandshake(m *Measures) Standing {
	h := m.TLS
	switch {
	case h == nil:
		return m.missing(Handshakes)
	case h.N == 0:
		return Standing{Why: "not measured: no handshake succeeded: " + h.Why}
	}
	rtt, _ := m.rtt()
	return m.share(Handshakes, h.P50-float64(h.Trips)*rtt, max(m.whole(), h.P50), "beyond its round trips a handshake takes")
}

// newConnections compares the first answer on a connection with later ones.
func newConnections(m *Measures) Standing {
	if m.Fresh == nil || m.Fresh.Whole.N < fewFresh || m.kept() == 0 {
		return m.missing(NewOnes)
	}
	if !m.Did(NewOnes) {
		return Standing{Why: "not measured"}
	}
	return m.share(NewOnes, m.Fresh.Login+max(0, m.Fresh.Answer-m.kept()), m.whole(), "more than on a kept connection, the first answer takes")
}

// fewFresh are the new connections that there are even where each takes seconds.
const fewFresh = 3

// handler: a request that does nothing takes the same way and the same connections.
func handler(m *Measures) Standing {
	switch {
	case m.DoesNothing == "":
		return Standing{Why: "not measured: no request that does nothing is known of this protocol"}
	case m.Null == nil || m.Null.Null == nil || m.Null.Null.N < fewSamples || m.Null.Asked.N < fewSamples:
		return m.missing(NullRequest)
	case m.Null.Asked.Why != "":
		return Standing{Why: "not measured: " + m.Null.Asked.Why}
	}
	n := m.Null
	return m.share(NullRequest, n.Asked.P50-n.Null.P50, n.Asked.P50, fmt.Sprintf("more than a null request (%s) this one takes", m.DoesNothing))
}

func service(m *Measures) Standing {
	if m.Null == nil {
		return m.missing(NullRequest)
	}
	n, what := m.Null.Null, "beyond the round trip a null request takes"
	if n == nil {
		n, what = &m.Null.Asked, "beyond the round trip the request takes"
	}
	rtt, known := m.rtt()
	switch {
	case n.N < fewSamples || m.Null.Asked.N < fewSamples:
		return m.missing(NullRequest)
	case n.Why != "":
		return Standing{Why: "not measured: " + n.Why}
	case !known && !m.Local:
		return Standing{Why: "not measured: the round trip is not known"}
	}
	if usual, queued := m.queuedTrip(); queued { // what waits on the path is not the service's
		rtt = usual
	}
	if m.Own != nil {
		rtt += m.Own.P50
	}
	return m.share(NullRequest, n.P50-rtt, m.Null.Asked.P50, what)
}

// pool: what is answered in time at a low rate and is not at a high one waits for its turn.
func pool(m *Measures) Standing {
	if len(m.Rates) < 2 {
		return m.missing(ManyRates)
	}
	base, last := m.Rates[0], m.Rates[len(m.Rates)-1]
	if base.Sent == 0 || base.Why != "" {
		return Standing{Why: "not measured: " + either(base.Why, "no answers at the low rate")}
	}
	if m.Bursts != nil && receiveBuffer(m).State == Found {
		return Standing{Why: "not measured: datagrams that come at once are lost"}
	}
	s := Standing{By: ManyRates, Why: fmt.Sprintf("half within %s at %s requests/s, within %s at %s/s", short(base.Due), units.Count(base.Rate), short(last.Due), units.Count(last.Rate))}
	switch {
	case base.Answers < 0.95*base.Rate:
		s.Why = fmt.Sprintf("not measured: at %s requests/s already only %s/s are answered", units.Count(base.Rate), units.Count(base.Answers))
		s.By = ""
	case m.Own != nil && m.Own.P50 >= m.least()/2:
		s.Why, s.By = "not measured: snag itself runs late on this host", ""
	case last.Why != "":
		s.Why = "not measured: " + last.Why
	case last.Saturates(base) && last.Conns < mostNeeded(last, base):
		s.Why += fmt.Sprintf(": all %d connections waited, which is snag's own limit", last.Conns)
	case last.Saturates(base):
		s.State, s.Cost = Found, last.Due-base.Due
		s.Why += fmt.Sprintf("; it answers at most %s/s, works on about %.1f requests at a time (Little's law)", units.Count(last.Answers), max(1, last.Answers*base.Sent))
	case last.Rate >= m.HighRate && last.Answers >= 0.98*last.Rate && last.Due < 1.5*base.Due+m.least()/2:
		s.State = RuledOut
	}
	return s
}

// mostNeeded are the connections that the rate needs while each answer takes as long as at the low rate.
func mostNeeded(s, base Step) int { return int(s.Rate*base.Sent) + 1 }

// Saturates reports whether a rate is more than the service can do: requests wait for their turn.
func (s Step) Saturates(base Step) bool {
	return s.Answers < 0.9*s.Rate && (s.Behind > 0 || s.Lost > 0) || s.Due >= 3*base.Due+0.01
}
