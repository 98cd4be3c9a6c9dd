package remedies

import (
	"strconv"

	"snag/internal/cpus"
	"snag/recording"
	"snag/remedies/plan"
)

// recordedQueue is what a queue of an interface was set to: a mask of CPUs, or the
// length of its table of flows.
func recordedQueue(r *recording.Recording, id uint64, t plan.Target) (string, error) {
	dir := map[string]string{"rps": "rx", "rfs": "rx", "xps": "tx"}[t.Kind]
	for i := len(r.Queues) - 1; i >= 0; i-- {
		q := r.Queues[i]
		if t.Queue == nil || q.Device != t.Device || q.Dir != dir || q.Index != *t.Queue || !here(r, q.Netns, id) {
			continue
		}
		list := map[string]*string{"rps": q.RPS, "xps": q.XPS}[t.Kind]
		switch {
		case t.Kind == "rfs" && q.Flows != nil:
			return strconv.Itoa(*q.Flows), nil
		case list != nil:
			set, err := cpus.ParseList(*list)
			if err != nil {
				return "", err
			}
			return cpus.Mask(set, r.Manifest.CPUs), nil
		}
	}
	return "", errUnread
}
