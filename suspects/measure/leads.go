package measure

import (
	"time"

	"snag/scene"
	"snag/suspects/suspect"
)

// FeltWithin is how soon a machine that lacks something is felt: a queue of requests
// fills within it.
const FeltWithin = 5 * time.Second

// LatencyLeads is what waiting for a CPU, a disk or memory leads to.
func LatencyLeads(more ...suspect.Lead) []suspect.Lead {
	out := []suspect.Lead{{To: scene.RequestLatency, Lag: FeltWithin}, {To: scene.ConnectLatency, Lag: FeltWithin}, {To: scene.StreamFreeze, Lag: FeltWithin},
		{To: scene.StreamLate, Lag: FeltWithin}, {To: scene.DatagramsLost, Lag: FeltWithin},
		{To: "server-stall", Lag: FeltWithin}, {To: "encoder-stall", Lag: FeltWithin}, {To: "reader-stall", Lag: FeltWithin}}
	return append(out, more...)
}
