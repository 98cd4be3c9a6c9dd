package score

import (
	"math/rand/v2"

	"snag/lab"
)

// Sample lists the cases of a short score: of each family the first incident that is
// not long, in its sick variant; and n of all the other cases at the plain level, the
// healthy, the distracting and the long ones among them, drawn by a seed. So each
// commit sees every family, and many commits see all.
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
	return append(fixed, others[:min(n, len(others))]...)
}

// family: incidents that end in the same suspect.
func family(i lab.Incident) string {
	if i.Want.Suspect != "" {
		return i.Want.Suspect
	}
	return i.Want.Said
}
