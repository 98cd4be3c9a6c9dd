package net

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// longestRound of receive work that is proposed, µs: programs on that CPU wait for it.
const longestRound = 16_000

// softnetSettings are a longer backlog where the CPU had time to work it off, and
// longer rounds of work where they were cut short besides.
func softnetSettings(r *recording.Recording, on *softCPU, dropped measure.Steps, squeezed float64) (set []suspect.Setting, calls []suspect.Call) {
	if on.spent(dropped) {
		return nil, []suspect.Call{{Who: recording.Subject{}, Do: fmt.Sprintf("take work off CPU %d: fewer packets, cheaper rules for them, or RPS to CPUs that idle", on.id),
			Why: "it had no time left while it dropped: a longer net.core.netdev_max_backlog would only make packets wait"}}
	}
	if now, want, worst, ok := longerSoftnet(r, dropped); ok && want > now {
		set = append(set, suspect.Setting{Kind: "sysctl", Name: "net.core.netdev_max_backlog", AtLeast: true, Value: fmt.Sprintf("%.0f", want),
			Why:  fmt.Sprintf("the second with the highest loss lost %s packets at a backlog of %s", units.Count(worst), units.Count(now)),
			Risk: fmt.Sprintf("up to %s of memory a CPU, and packets that wait where it is behind all the time", units.Bytes(2048*want))})
	}
	packets, usecs, ok := budgets(r)
	if ok && squeezed > 0 && 2*usecs <= longestRound {
		why := fmt.Sprintf("%s rounds of work ended before the queue was empty (time_squeeze)", units.Count(squeezed))
		risk := "programs on that CPU wait for longer rounds"
		set = append(set,
			suspect.Setting{Kind: "sysctl", Name: "net.core.netdev_budget", AtLeast: true, Value: fmt.Sprintf("%.0f", 2*packets), Why: why, Risk: risk, Group: "budget"},
			suspect.Setting{Kind: "sysctl", Name: "net.core.netdev_budget_usecs", AtLeast: true, Value: fmt.Sprintf("%.0f", 2*usecs), Why: why + "; the round ends at the first of both limits", Risk: risk, Group: "budget"})
	}
	return set, nil
}
