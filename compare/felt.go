package compare

import (
	"slices"

	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
)

// Felt is what a viewer of a stream noticed in B and not in A, too seldom to say that it was more
// than chance: one standstill of 5 s falls on one of a few blocks.
type Felt struct {
	Stream  string
	What    string  // "stood still"
	Seconds float64 // in B
}

// noticed is the shortest standstill that counts: healthy streams have gaps of 0.35 s on a busy host.
const noticed = 1.0 // s

// less is what a stream may be that comes in time.
var less = []struct{ symptom, what string }{
	{scene.StreamAudioLost, "had no audio"}, {scene.StreamRateFell, "gave fewer frames"}, {scene.StreamThin, "gave far fewer bits"},
}

// feel notes what viewers of a stream noticed in B alone.
func (c *Comparison) feel(was, now seen) {
	note := func(what string, a, b []recording.Interval) {
		if long := longOnes(b, c.B); long > 0 && longOnes(a, c.A) == 0 {
			c.Felt = append(c.Felt, Felt{now.st.Subject.Name, what, long})
		}
	}
	note("stopped", was.st.Stood(c.A.Window()), now.st.Stood(c.B.Window()))
	for _, l := range less {
		note(l.what, was.less(l.symptom), now.less(l.symptom))
	}
}

func (s seen) less(symptom string) (out []recording.Interval) {
	for _, l := range s.st.Less(s.r, s.r.Window(), symptom) {
		out = append(out, l.Interval)
	}
	return out
}

// longOnes is how long those last together that are noticed.
func longOnes(all []recording.Interval, r *recording.Recording) (sum float64) {
	for _, i := range intervals.Clip(all, r.Window()) {
		if d := i.Length(r.Window().End).Seconds(); d >= noticed {
			sum += d
		}
	}
	return sum
}

// feltByChance leaves those of which no figure got worse: whether they are worse can't be told.
func (c *Comparison) feltByChance() {
	c.Felt = slices.DeleteFunc(c.Felt, func(f Felt) bool {
		return slices.ContainsFunc(c.Amounts, func(a Amount) bool { return a.Stream == f.Stream && a.Worse() })
	})
}
