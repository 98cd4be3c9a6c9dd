package verdict

import (
	"math"
	"time"

	"snag/recording"
	"snag/scene"
)

// longAgo: what was over for so long when somebody saw a symptom did not cause it. A
// find lasts a minute; files that others recorded last for days.
const longAgo = time.Minute

// wasOver reports that a cause had ended long before what the user told, whose time the
// user gave.
func wasOver(active []recording.Interval, sym scene.Symptom) bool {
	if !sym.Reported || len(active) == 0 {
		return false
	}
	for _, i := range active {
		if i.End == 0 || i.End >= sym.Onset.Add(-longAgo) {
			return false
		}
	}
	return true
}

// toldInTime reports that times of day that the user gave fall on a cause, and would
// hardly do so by chance: files of hours with a few pauses tell that, a find of ten
// seconds does not.
func (g *graph) toldInTime(c *candidate) bool {
	var spans []recording.Interval
	for _, i := range c.finding.Active {
		spans = append(spans, recording.Interval{Start: i.Start.Add(-told), End: i.End})
	}
	of, hit := 0, 0
	window := g.windowOf(c)
	length := window.End.Sub(window.Start)
	var lag time.Duration
	for _, e := range g.out[c] {
		if e.to != nil {
			continue // to another suspect: there may be no symptom at all
		}
		sym := g.symptoms[e.symptom]
		if !sym.Reported || sym.Onset <= window.Start {
			continue
		}
		lead, _ := leadsTo(c.suspect, sym.Name)
		lag = max(lag, lead.Lag, told)
		if of++; hits(merge(spans, window, lag), sym.Onset, window, 0) {
			hit++
		}
	}
	if hit == 0 || hit < of || length <= 0 {
		return false
	}
	covered := 0.0
	for _, s := range merge(spans, window, lag) {
		covered += float64(s.End.Sub(s.Start)) / float64(length)
	}
	return math.Pow(covered, float64(hit)) <= byChance
}
