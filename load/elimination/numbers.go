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
	on, what := " on a kept one", "on kept connections"
	if m.Network == "udp" {
		on, what = "", "requests"
	}
	if k := m.Kept; k != nil && k.N > 0 {
		parts = append(parts, fmt.Sprintf("half within %s%s, 9 in 10 within %s", short(k.P50), on, short(k.P90)))
	}
	if f := m.Fresh; f != nil {
		for _, why := range slices.Sorted(maps.Keys(f.Failed)) {
			parts = append(parts, fmt.Sprintf("%d failed: %s", f.Failed[why], why))
		}
	}
	if k := m.Kept; k != nil && k.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%s %s got no answer", units.Count(float64(k.Failed)), what))
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
