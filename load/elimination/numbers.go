package elimination

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"snag/internal/units"
)

func requestNumber(m *Measures) string {
	var parts []string
	if f := m.Fresh; f != nil && f.Whole.N > 0 {
		parts = append(parts, fmt.Sprintf("half within %s on a new connection, at most %s", short(f.Whole.P50), short(f.Whole.Most)))
	}
	if k := m.Kept; k != nil && k.N > 0 {
		parts = append(parts, fmt.Sprintf("half within %s on a kept one, 9 in 10 within %s", short(k.P50), short(k.P90)))
	}
	if f := m.Fresh; f != nil {
		for _, why := range slices.Sorted(maps.Keys(f.Failed)) {
			parts = append(parts, fmt.Sprintf("%d failed: %s", f.Failed[why], why))
		}
	}
	if k := m.Kept; k != nil && k.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%s on kept connections got no answer", units.Count(float64(k.Failed))))
	}
	return strings.Join(parts, "; ")
}

func ownNumber(m *Measures) string {
	if m.Own == nil {
		return ""
	}
	return fmt.Sprintf("half within %s, sent late by %s", short(m.Own.P50), short(m.Own.LagP50))
}

func lookupNumber(m *Measures) string {
	switch r := m.Resolve; {
	case r == nil:
		return ""
	case r.Literal:
		return "it is an address"
	case r.N == 0:
		return fmt.Sprintf("all of %d failed", r.Failed)
	default:
		return fmt.Sprintf("half within %s, at most %s, %s", short(r.P50), short(r.Most), addresses(r.Addresses))
	}
}

func connectNumber(m *Measures) string {
	var parts []string
	for _, a := range m.Connect {
		text := fmt.Sprintf("%s %d of %d", a.Address, a.N, a.Tried)
		if a.N > 0 {
			text += fmt.Sprintf(", half within %s", short(a.P50))
		}
		if a.Delayed > 0 {
			text += fmt.Sprintf(", %d waited for another SYN", a.Delayed)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func pathNumber(m *Measures) string {
	p := m.Path
	if p == nil {
		return ""
	}
	parts := []string{fmt.Sprintf("%s of %s segments sent again", units.Count(float64(p.Resent)), units.Count(float64(p.Segments)))}
	if rtt, known := m.rtt(); known {
		parts = append([]string{"round trip " + short(rtt)}, parts...)
	}
	if p.Echo != nil {
		parts = append(parts, fmt.Sprintf("%d of %d ICMP echo lost", p.Echo.Lost, p.Echo.Sent))
	}
	if r := Route(p.Hops); r != "" {
		parts = append(parts, r)
	}
	return strings.Join(parts, ", ")
}

// Route says how many hops there are, and which one adds most to the round trip.
func Route(hops []Hop) string {
	var most, before Hop
	added, n := 0.0, 0
	for _, h := range hops {
		if h.Address == "" {
			continue
		}
		n = h.TTL
		if h.RTT-before.RTT > added {
			added, most = h.RTT-before.RTT, h
		}
		before = h
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s, of which number %d (%s) adds %s", units.Plural(n, "hop"), most.TTL, most.Address, short(added))
}

func sizeNumber(m *Measures) string {
	var parts []string
	if m.Size == nil {
		return ""
	}
	for _, t := range []struct {
		name string
		t    *Tried
	}{{"as it is", m.Size.Plain}, {"of 3,000 bytes", m.Size.Padded}, {fmt.Sprintf("with segments of %d bytes", m.Size.SmallSegment), m.Size.Small}} {
		if t.t != nil {
			parts = append(parts, fmt.Sprintf("%s %d of %d answered", t.name, t.t.Answered, t.t.N))
		}
	}
	return strings.Join(parts, ", ")
}

func handshakeNumber(m *Measures) string {
	switch {
	case m.TLS == nil:
		return ""
	case m.TLS.N == 0:
		return fmt.Sprintf("all of %d failed: %s", m.TLS.Failed, m.TLS.Why)
	}
	return fmt.Sprintf("half within %s, %d failed", short(m.TLS.P50), m.TLS.Failed)
}

func newNumber(m *Measures) string {
	if m.Fresh == nil || m.Fresh.Whole.N == 0 || m.kept() == 0 {
		return ""
	}
	return fmt.Sprintf("%s and %s", short(m.Fresh.Login+m.Fresh.Answer), short(m.kept()))
}

func optionsNumber(m *Measures) string {
	var parts []string
	for _, o := range m.Options {
		if len(o.Pairs) > 0 {
			last := o.Pairs[len(o.Pairs)-1]
			parts = append(parts, fmt.Sprintf("half within %s, with %s within %s", short(last[0]), o.Name, short(last[1])))
		}
	}
	if len(parts) == 0 {
		return "not needed: the answers are too fast"
	}
	return strings.Join(parts, "; ")
}

func nullNumber(m *Measures) string {
	if m.Null == nil {
		return ""
	}
	switch {
	case m.Null.Null == nil:
		return fmt.Sprintf("half within %s; no request that does nothing is known", short(m.Null.Asked.P50))
	case m.Null.Null.N == 0:
		return m.DoesNothing + ": no answer"
	}
	return fmt.Sprintf("%s: half within %s, this one %s", m.DoesNothing, short(m.Null.Null.P50), short(m.Null.Asked.P50))
}

func ratesNumber(m *Measures) string {
	if len(m.Rates) == 0 {
		return ""
	}
	last := m.Rates[len(m.Rates)-1]
	return fmt.Sprintf("up to %s requests/s: %s/s answered, half within %s", units.Count(last.Rate), units.Count(last.Answers), short(last.Due))
}
