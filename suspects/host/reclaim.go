package host

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// reclaimed is what threads of a process did to get memory, by the intervals in which
// they reclaimed it themselves: each of them stood still meanwhile. False where they
// did not for long enough to be felt.
func reclaimed(r *recording.Recording, p *scene.Process) (suspect.Evidence, bool) {
	n, sum, longest := 0, 0.0, 0.0
	for _, e := range r.Events {
		if e.Kind == recording.EventReclaim && e.Subject.PID == p.Subject.PID {
			n++
			sum += e.Value
			longest = max(longest, e.Value)
		}
	}
	if sum < compactedFor {
		return suspect.Evidence{}, false
	}
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: sum, Unit: "s", Source: source.Of("vmscan:mm_vmscan_direct_reclaim_begin, mm_vmscan_memcg_reclaim_begin and their ends"), Origin: "reclaim intervals",
		Text: fmt.Sprintf("threads of %s reclaimed memory themselves %s, for %s in all, at the longest %s (healthy 0)", p.Subject.Name, units.Times(n), units.Lasting(sum), units.Lasting(longest))}, true
}
