package streams

import (
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
)

// starvedFor is the share of a stall in which a process must have been ready to run
// and waited for a CPU, all its threads together, to have stood still for that: on a
// busy machine every process waits for a tenth of the time.
const starvedFor = 0.3

// notForCPU names the suspects of too little CPU time where the threads of a process
// were followed and hardly waited for any while it stood still.
func notForCPU(p *scene.Process, active []recording.Interval, window recording.Interval) []string {
	if p == nil {
		return nil
	}
	waited, seen := 0.0, 0.0
	for _, t := range p.Threads {
		followed := 0.0
		for i := 1; i < len(t.Rows); i++ {
			a, b := t.Rows[i-1], t.Rows[i]
			step := recording.Interval{Start: a.T, End: b.T}
			inside := intervals.Overlap(active, []recording.Interval{step}, window.End).Seconds()
			if inside <= 0 || b.RunDelay < a.RunDelay {
				continue
			}
			followed += inside
			waited += (b.RunDelay - a.RunDelay) * inside / step.Length(b.T).Seconds()
		}
		seen = max(seen, followed)
	}
	if seen < 0.5*intervals.Seconds(active, window.End) || waited >= starvedFor*seen {
		return nil
	}
	return []string{"cpu-saturated", "run-queue-wait"}
}
