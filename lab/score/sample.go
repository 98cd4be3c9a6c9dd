package score

import (
	"math/rand/v2"
	"slices"

	"snag/lab"
)

// Sample lists the cases of a short score: of each family the first incident that is
// not long, in its sick variant; and n of all the other cases at the plain level, the
// healthy, the distracting and the long ones among them, drawn by a seed. So each
// commit sees every family, and many commits see all. Incidents that are apart are made
// two at a time, with which other the seed draws too: each must be named, or nobody.
func Sample(incidents []lab.Incident, n int, seed uint64) []Case {
	var fixed, others []Case
	seen := map[string]bool{}
	for _, c := range Plan(incidents, nil, []lab.Level{lab.Plain}) {
		i := c.Incidents[0]
		if c.Variant == lab.Sick && !i.Long && !seen[family(i)] {
			seen[family(i)] = true
			fixed = append(fixed, c)
			continue
		}
		others = append(others, c)
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	return append(inPairs(fixed, seed), inPairs(others[:min(n, len(others))], seed)...)
}

// inPairs puts two cases of a variant, whose incidents are apart, into one run.
func inPairs(cases []Case, seed uint64) (out []Case) {
	drawn := slices.Clone(cases)
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	first := map[lab.Variant]int{} // where the case of each variant is that has no second yet
	for _, c := range drawn {
		at, waits := first[c.Variant]
		switch apart := c.Incidents[0].Apart; {
		case apart && waits && out[at].Incidents[0].Name != c.Incidents[0].Name:
			out[at].Incidents = append(slices.Clone(out[at].Incidents), c.Incidents...)
			delete(first, c.Variant)
			continue
		case apart && !waits:
			first[c.Variant] = len(out)
		}
		out = append(out, c)
	}
	return out
}

// family: incidents that end in the same suspect.
func family(i lab.Incident) string {
	if i.Want.Suspect != "" {
		return i.Want.Suspect
	}
	return i.Want.Said
}
