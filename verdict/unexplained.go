package verdict

import (
	"cmp"
	"slices"

	"snag/internal/sorting"
	"snag/recording"
	"snag/scene"
)

// Unexplained are the target's symptoms to which no culprit leads, as indices, the greatest harm
// first.
func (v *Verdict) Unexplained() (out []int) {
	led := map[int]bool{}
	for _, e := range v.With(Culprit) {
		for _, i := range e.Explains {
			led[i] = true
		}
	}
	for i, sym := range v.Symptoms {
		if !led[i] && !sym.Elsewhere && !sym.Reported {
			out = append(out, i)
		}
	}
	sorting.StableBy(out, func(a, b int) int { return cmp.Compare(v.Symptoms[b].Held, v.Symptoms[a].Held) })
	return out
}

// Foremost is the symptom that is answered before any culprit: no cause of it was proved, and
// it is worse than all that a culprit leads to; where that is a stream that was asked for, it is one
// too. Next is the measurement that would tell.
func (v *Verdict) Foremost() (sym scene.Symptom, next string, ok bool) {
	rest := v.Unexplained()
	if len(rest) == 0 || len(v.Here(Culprit)) == 0 {
		return sym, "", false
	}
	sym = v.Symptoms[rest[0]]
	ofStream := func(s scene.Symptom) bool { return s.Subject.Kind == recording.KindStream }
	for i, other := range v.Symptoms {
		if slices.Contains(rest, i) || other.Elsewhere {
			continue
		}
		if other.Held >= sym.Held || ofStream(other) && !ofStream(sym) { // the stream is what was asked for
			return sym, "", false
		}
	}
	for _, e := range v.With(NotSeen) {
		if _, leads := leadsTo(e.Suspect, sym.Name); leads && e.Next != "" && e.Subject.Kind != "" && scene.IDOf(e.Subject) == scene.IDOf(sym.Subject) {
			return sym, e.Next, true
		}
	}
	return sym, nextFor(sym), true
}
