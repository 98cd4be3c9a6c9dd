package suspects

import (
	"time"

	"snag/scene"
)

// feltWithin is how soon a machine that lacks something is felt: a queue of requests
// fills within it.
const feltWithin = 5 * time.Second

// latencyLeads is what waiting for a CPU, a disk or memory leads to.
func latencyLeads(more ...Lead) []Lead {
	out := []Lead{{scene.RequestLatency, feltWithin}, {scene.ConnectLatency, feltWithin}, {scene.StreamFreeze, feltWithin},
		{scene.StreamLate, feltWithin}, {scene.DatagramsLost, feltWithin},
		{"server-stall", feltWithin}, {"encoder-stall", feltWithin}, {"reader-stall", feltWithin}}
	return append(out, more...)
}
