package suspects

import (
	"fmt"

	"snag/recording"
	"snag/scene"
)

// reclaimed is what threads of a process did to get memory, by the intervals in which
// they reclaimed it themselves: each of them stood still meanwhile. False where they
// did not for long enough to be felt.
func reclaimed(r *recording.Recording, p *scene.Process) (Evidence, bool) {
	n, sum, longest := 0, 0.0, 0.0
	for _, e := range r.Events {
		if e.Kind == recording.EventReclaim && e.Subject.PID == p.Subject.PID {
			n++
			sum += e.Value
			longest = max(longest, e.Value)
		}
	}
	if sum < compactedFor {
		return Evidence{}, false
	}
	return Evidence{Side: For, Grade: Strong, Value: sum, Unit: "s", Source: "vmscan:mm_vmscan_direct_reclaim_begin, mm_vmscan_memcg_reclaim_begin and their ends", Origin: "reclaim intervals",
		Text: fmt.Sprintf("threads of %s reclaimed memory themselves %s, for %s in all, at the longest %s (healthy 0)", p.Subject.Name, times(n), lasting(sum), lasting(longest))}, true
}
