package scene

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// Cut requests are those whose connection ended before their answer. By whom is told of
// most of them.
func (v *Service) Cut() (cut, of float64, by string) {
	for _, row := range v.Rows {
		cut += float64(row.Cut)
		of += float64(row.N + row.Cut)
		if row.Cut > 0 {
			by = row.CutBy
		}
	}
	return cut, of, by
}

// cutRequests: connections ended while whoever asked still waited. A client that leaves
// hurts nobody, however it does it: its own requests are none of these.
func cutRequests(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	for _, role := range []string{"call", "serve"} {
		for _, v := range Services(s, r, role) {
			if sym, ok := v.CutShort(s); ok {
				out = append(out, sym)
			}
		}
	}
	return out
}

// CutShort are a service's cut requests as a symptom; false where they are few.
func (v *Service) CutShort(s *Scene) (Symptom, bool) {
	cut, of, by := v.Cut()
	if cut < failedFloor || cut < failedOfAll*of {
		return Symptom{}, false
	}
	var active []recording.Interval
	for _, row := range v.Rows {
		if row.Cut > 0 {
			active = append(active, second(row.T))
		}
	}
	return onset(Symptom{
		Name: ConnectionErrors, Subject: v.Subject, Active: intervals.Merge(active, 0), Amount: cut, Unit: "requests", Share: cut / of,
		Text: fmt.Sprintf("%s of %s requests got no answer: %s ended their connection", units.Count(cut), units.Count(of), by),
	}, s), true
}

// CutsMeasured reports whether it is known which requests were open when their connection
// ended.
func CutsMeasured(r *recording.Recording) bool {
	c, ok := r.Measured("sockets.turns")
	return ok && !c.Withheld() && len(r.Manifest.Files) == 0 && len(r.Parts) == 0
}
