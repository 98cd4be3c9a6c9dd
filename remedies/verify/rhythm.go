package verify

import (
	"snag/remedies/verify/episode"
	"snag/verdict"
)

// Rhythm is how the trouble of a culprit came in the recording before a change, and how
// long to measure after it. Times are in seconds.
type Rhythm struct {
	Every float64 // from onset to onset; 0: not known
	Need  float64 // the quiet time after which it is called gone
	Text  string  // "it came every 40 s, for 5 s"
}

// RhythmOf tells it of the cause's counter, whose being gone is enough and is needed
// (together), and else of what was felt.
func RhythmOf(before *verdict.Verdict, culprit verdict.Entry, symptom string) Rhythm {
	since := around(before.Recording, before.Recording).Since
	felt := episodesOf(feltOf(culprit, before, symptom).in(before, culprit.Subject))
	o, ok := owns[culprit.Suspect.Name]
	if !ok {
		return rhythmOf(felt, since)
	}
	if own := episodesOf(o.in(before.Recording, culprit.Subject)); own.On > sparseSeconds {
		return rhythmOf(own, since)
	}
	return rhythmOf(felt, since)
}

func rhythmOf(e episode.Episodes, since float64) Rhythm {
	return Rhythm{Every: e.Every(), Need: e.Need(since), Text: e.Came(since)}
}

func episodesOf(s seconds) episode.Episodes {
	e := episode.In(s.bad)
	e.Untimed = s.untimed
	return e
}
