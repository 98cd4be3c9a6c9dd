package pool

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// refusedInCapture are servers whose host answered SYNs by a reset.
func refusedInCapture(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, c := range scene.CapturedServers(s, r) {
		n, of := float64(len(c.Refused)), float64(c.Connections)
		if n == 0 {
			continue
		}
		f := suspect.Finding{Subject: c.Subject, Active: scene.SpansOf(c.Refused),
			Text: fmt.Sprintf("%s connections to %s were refused: nothing listens there", units.OfAll(n, of), c.Server),
			Next: fmt.Sprintf("ss -ltnp 'sport = :%s'   # on %s: who listens", recording.Port(c.Server), recording.Host(c.Server)),
			Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: n, Unit: "connections", Source: source.File(measure.Captured + ": SYN, RST"), Origin: "refused",
				Text: fmt.Sprintf("the SYNs of %s connections to %s were answered by a reset", units.OfAll(n, of), c.Server)}}}
		if c.Opened > 0 {
			f.Text = fmt.Sprintf("%s connections to %s were refused: at times nothing listens there, or a filter rejects some", units.OfAll(n, of), c.Server)
		}
		f.Remedy.Permanently = fmt.Sprintf("Start the service that is to listen on %s. Or take the address out of its clients' configuration.", c.Server)
		out = append(out, f)
	}
	return out
}

// soonAcked is the part of a silence within which a request must have been acknowledged for the
// network to have no part in it.
const soonAcked = 0.25

// silentInCapture are servers that had a request and did not answer it for long: their kernel
// acknowledged it.
func silentInCapture(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	both := scene.TwoSided(r)
	for _, c := range scene.CapturedServers(s, r) {
		if slices.ContainsFunc(both, func(v *scene.Served) bool { return v.Server == c.Server }) {
			continue // both ends tell more
		}
		var had []recording.Flow
		slowest, answered, others := 0.0, 0, 0.0
		for _, f := range c.Silent {
			if q := f.Silence; q.Acked != nil && *q.Acked <= soonAcked*q.Length {
				had = append(had, f)
				slowest = max(slowest, *q.Acked)
				if !q.Open {
					answered++
				}
			}
			others += float64(f.Asked - f.Silent)
		}
		if len(had) == 0 {
			continue
		}
		worst := scene.Worst(had)
		what := worst.Begins
		if what == "" {
			what = "a request"
		}
		f := suspect.Finding{Subject: c.Subject, Active: scene.Silences(had),
			Text: fmt.Sprintf("%s has %s and does not answer it for %s", c.Server, what, units.Lasting(worst.Length)),
			Next: fmt.Sprintf("snag find --port %s   # on %s", recording.Port(c.Server), recording.Host(c.Server)),
			Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: worst.Length, Unit: "s", Source: source.File(measure.Captured + ": ACKs and answers"), Origin: "answers",
				Text: fmt.Sprintf("on %s connections its host acknowledged a request within %s, and its program sent nothing for up to %s", units.OfAll(float64(len(had)), float64(c.Connections)), units.Short(slowest), units.Lasting(worst.Length))}}}
		if answered == 0 { // what it answered may have been lost, as full packets are on some ways
			f.Evidence[0].Grade = suspect.Strong
			if others > 0 {
				f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: others, Unit: "requests", Source: source.File(measure.Captured + ": answers"), Origin: "other answers",
					Text: fmt.Sprintf("answers to %s other requests came over the same connections: the way back takes them", units.Count(others))})
			}
		}
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("See what the program behind %s waits for.", c.Server), Program: "Of its clients: a time limit for each request."}
		out = append(out, f)
	}
	return out
}
