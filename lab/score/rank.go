package score

import (
	"slices"
	"sort"

	"snag/lab"
)

// place of a state in the ranking. A consequence and a risk are behind what
// contributes; what was suspected and not proved comes last.
var place = map[string]int{"culprit": 0, "contributing": 1, "consequence": 2, "risk": 3, "not-seen": 4}

// nobody stands in the first place of a ranking when nobody was accused: an answer
// that names no culprit has no first one, whatever it suspects.
const nobody = ""

// Rank lists the suspects of an answer, each once, the most accused first:
// culprits in their order, then those that contribute, consequences, risks, and
// those that were suspected without proof. Those that were cleared, and those of
// which nothing was seen, are not in it.
func Rank(a lab.Answer) []string {
	entries := a.Culprits()
	for _, e := range a.Verdict {
		if n, ok := place[e.State]; ok && n > 0 && (e.State != "not-seen" || e.Suspected()) {
			entries = append(entries, e)
		}
	}
	sort.SliceStable(entries, func(i, j int) bool { return place[entries[i].State] < place[entries[j].State] })
	var out []string
	if len(a.Culprits()) == 0 {
		out = append(out, nobody)
	}
	for _, e := range entries {
		if !slices.Contains(out, e.Suspect) {
			out = append(out, e.Suspect)
		}
	}
	return out
}
