package report

import (
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/suspects/suspect"
	"snag/verdict"
)

// sure is the confidence from which a number says nothing: nearly all culprits have 0.97 to 0.99. What tells them
// apart is how many independent pieces of evidence they rest on, and what speaks against them.
const sure = 0.9

// proof says what an accusation rests on (docs/verdict.md, "Findings"): proofs are decisive pieces of evidence, an
// identity that only this cause makes; strong signs are rarely seen without it. Pieces of one origin count once, as
// package verdict counts them. The confidence is a part of it only where it is low.
func proof(e verdict.Entry) string {
	var parts []string
	if n := origins(e.Evidence, suspect.For, suspect.Decisive); n > 0 {
		parts = append(parts, units.Plural(n, "proof"))
	}
	if n := origins(e.Evidence, suspect.For, suspect.Strong); n > 0 {
		parts = append(parts, units.Plural(n, "strong sign"))
	}
	if len(parts) == 0 {
		parts = append(parts, "weak signs only")
	}
	if n := origins(e.Evidence, suspect.Against, suspect.Decisive, suspect.Strong); n > 0 {
		parts = append(parts, fmt.Sprintf("%d against", n))
	}
	if n := doubts(e.Evidence); n > 0 {
		parts = append(parts, units.Plural(n, "doubt"))
	}
	if e.Confidence < sure {
		parts = append(parts, fmt.Sprintf("confidence %.2f", e.Confidence))
	}
	return strings.Join(parts, ", ")
}

// origins counts the independent pieces of evidence on a side, of some grades: those of one origin count once.
func origins(all []suspect.Evidence, side suspect.Side, grades ...suspect.Grade) int {
	seen := map[string]bool{}
	for _, e := range all {
		for _, g := range grades {
			if e.Side != side || e.Grade != g {
				continue
			}
			origin := e.Origin
			if origin == "" {
				origin = e.Source.String()
			}
			seen[origin] = true
		}
	}
	return len(seen)
}

// doubts are the pieces with a doubt of their own, and what was not measured.
func doubts(all []suspect.Evidence) (n int) {
	for _, e := range all {
		if e.Doubt != "" || e.Side == suspect.Missing {
			n++
		}
	}
	return n
}
