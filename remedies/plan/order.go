package plan

import "slices"

// Ordered puts coupled changes next to each other, in the plan's order otherwise.
func Ordered(all []Change) []Change {
	var out []Change
	done := map[string]bool{}
	var add func(c Change)
	add = func(c Change) {
		if done[c.ID] {
			return
		}
		done[c.ID] = true
		out = append(out, c)
		for _, other := range all {
			if slices.Contains(c.With, other.ID) || slices.Contains(other.With, c.ID) {
				add(other)
			}
		}
	}
	for _, c := range all {
		add(c)
	}
	return out
}
