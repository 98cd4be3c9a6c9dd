package verify

import (
	"math"

	"snag/recording"
	"snag/remedies/verify/episode"
)

// sparseSeconds with harm, or less, tell nothing of when trouble came: a counter of what
// happens now and then beside it.
const sparseSeconds = 3

// compare tells one amount before from the same after.
func compare(before, after seconds, k episode.Around) Compared {
	switch {
	case !before.measured:
		return Compared{Outcome: CantTell, Why: "it was not measured before"}
	case !after.measured:
		return Compared{Outcome: CantTell, Why: "it was not measured this time"}
	}
	k.Untimed = before.untimed
	d := episode.Decide(before.bad, after.bad, k)
	return Compared{Before: d.Before, After: d.After, Outcome: d.Outcome, Why: d.Why, Need: math.Ceil(d.Need), sparse: episode.In(before.bad).On <= sparseSeconds}
}

// around is what is known of the time beside two recordings.
func around(before, after *recording.Recording) (k episode.Around) {
	m := before.Manifest
	if m.Since != 0 && m.Since < m.Start {
		k.Since = m.Start.Sub(m.Since).Seconds()
	}
	k.Gap = max(after.Manifest.Start.Sub(m.End).Seconds(), 0)
	return k
}
