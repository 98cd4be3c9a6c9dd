package verdict

import (
	"fmt"
	"hash/fnv"

	"snag/recording"
	"snag/scene"
)

// number gives every entry its id and turns explained-by from a candidate into the id of its entry.
func number(entries []Entry, found []*candidate) {
	n := map[string]int{}
	for i := range entries {
		e := &entries[i]
		id := idOf(e.Suspect.Name, e.Subject)
		if n[id]++; n[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, n[id])
		}
		e.ID = id
		if e.from != nil {
			e.from.id = id
		}
	}
	for i := range entries {
		if c := entries[i].from; c != nil && c.explainedBy != nil {
			entries[i].ExplainedBy = c.explainedBy.id
		}
	}
}

// idOf is the id of an entry: the suspect's name, and of one with a subject six hexadecimal digits of a hash of what
// the subject is. It depends on nothing else, so that another order, or what else was found, changes no id.
func idOf(name string, sub recording.Subject) string {
	if sub.Kind == "" {
		return name
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s\n%s\n%s\n%d", sub.Host, scene.IDOf(sub), sub.Path, sub.PID)
	sum := h.Sum32()
	return fmt.Sprintf("%s#%06x", name, (sum>>24)^(sum&0xffffff)) // folded to 24 bits as FNV's authors do
}
