package verdict

import "snag/suspects/suspect"

// proof is what a finding's evidence amounts to.
type proof int

const (
	nothing   proof = iota // nothing speaks for it
	unproven               // something does, not enough
	confirmed              // one decisive piece, or two strong ones of independent origin
	refuted                // a decisive piece against, and none for
	conflict               // decisive pieces on both sides: the instruments disagree
)

// prove applies the grades: decisive pieces settle it; two strong ones of
// independent origin confirm unless as many stand against; weak ones never do.
func prove(evidence []suspect.Evidence) proof {
	forDecisive := count(evidence, suspect.For, suspect.Decisive)
	againstDecisive := count(evidence, suspect.Against, suspect.Decisive)
	forStrong := count(evidence, suspect.For, suspect.Strong)
	againstStrong := count(evidence, suspect.Against, suspect.Strong)
	switch {
	case forDecisive > 0 && againstDecisive > 0:
		return conflict
	case againstDecisive > 0:
		return refuted
	case forDecisive > 0:
		return confirmed
	case forStrong >= 2 && forStrong > againstStrong:
		return confirmed
	case forStrong > 0:
		return unproven
	}
	return nothing
}

// count is the number of independent origins of that side and grade: two
// counters that one kernel line feeds are one piece of evidence.
func count(evidence []suspect.Evidence, side suspect.Side, grade suspect.Grade) int {
	origins := map[string]bool{}
	for _, e := range evidence {
		if e.Side != side || e.Grade != grade {
			continue
		}
		origin := e.Origin
		if origin == "" {
			origin = e.Source.String()
		}
		origins[origin] = true
	}
	return len(origins)
}
