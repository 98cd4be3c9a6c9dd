package elimination

import (
	"fmt"
	"strings"

	"snag/internal/units"
)

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
	what := "segments sent again"
	if m.Network == "udp" {
		what = "requests without an answer"
	}
	parts := []string{fmt.Sprintf("%s of %s %s", units.Count(float64(p.Resent)), units.Count(float64(p.Segments)), what)}
	if rtt, known := m.rtt(); known {
		parts = append([]string{"round trip " + short(rtt)}, parts...)
	}
	if p.Echo != nil {
		parts = append(parts, fmt.Sprintf("%d of %d ICMP echo lost", p.Echo.Lost, p.Echo.Sent))
	}
	if r := Route(p.Hops); r != "" {
		parts = append(parts, r)
	}
	if r := ByTCP(p.Hops, p.ByTCP); r != "" {
		parts = append(parts, r)
	}
	return strings.Join(parts, ", ")
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
