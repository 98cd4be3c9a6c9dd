package profile

import (
	"snag/internal/sorting"
	"snag/recording"
)

// Units of a profile's values, beside the names of events.
const (
	Seconds = "s"
	Samples = "samples"
)

// Events are what was sampled on the CPUs: "" for time, which stands first, then
// events by how many samples they have.
func Events(r *recording.Recording) []string {
	n := map[string]uint64{}
	var out []string
	for _, row := range r.OnCPU {
		if _, ok := n[row.Event]; !ok {
			out = append(out, row.Event)
		}
		n[row.Event] += row.N
	}
	sorting.StableBy(out, func(a, b string) int {
		switch {
		case a == "" || b != "" && n[a] > n[b]:
			return -1
		case b == "" || n[a] < n[b]:
			return 1
		}
		return 0
	})
	return out
}

// UnitOf is that of the values of an event.
func UnitOf(r *recording.Recording, event string) string {
	if event == "" {
		return Seconds
	}
	for _, row := range r.OnCPU {
		if row.Event == event && row.Weight > 0 {
			return event
		}
	}
	return Samples
}

// eventOf is the event to show where one is wanted; "" asks for the first.
func eventOf(r *recording.Recording, wanted string) string {
	if all := Events(r); wanted == "" && len(all) > 0 {
		return all[0]
	}
	return wanted
}

// valueOf is what a row's samples stand for.
func (p *Profile) valueOf(row recording.OnCPU) float64 {
	switch p.Unit {
	case Seconds:
		return float64(row.N) / max(row.Hz, 1)
	case Samples:
		return float64(row.N)
	}
	return row.Weight
}
