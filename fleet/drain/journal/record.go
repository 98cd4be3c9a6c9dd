package journal

import (
	"time"

	"snag/fleet/drain/health"
	"snag/fleet/drain/plan"
)

// Step is what a record is about.
type Step string

// The steps.
const (
	Begun   Step = "begun"   // Plan, Peers; what is before it is of an earlier drain
	Resumed Step = "resumed" // Answer: again, skip or ""
	Batch   Step = "batch"   // N, Base: how the hosts were before it
	Will    Step = "will"    // Peer, Phase, N, Early: written before the action is begun
	Did     Step = "did"     // the same, after it
	Failed  Step = "failed"  // the same, Why
	Passed  Step = "passed"  // Peer, Phase: what was waited for (leave, ready)
	Back    Step = "back"    // Peer: it is in service again; Early: before it was restarted
	Stopped Step = "stopped" // Why
	Done    Step = "done"
)

// Record is one line.
type Record struct {
	At   time.Time `json:"at"`
	Step Step      `json:"step"`
	Plan string    `json:"plan,omitempty"` // its SHA-256
	// Peers are those that a discovery listed when the drain began, in their order; the plan has the others itself.
	Peers []plan.Peer     `json:"peers,omitempty"`
	Peer  string          `json:"peer,omitempty"`
	Phase plan.Phase      `json:"phase,omitempty"`
	N     int             `json:"n,omitempty"` // of the action in its phase, of the batch: from 1
	Text  string          `json:"text,omitempty"`
	Early bool            `json:"early,omitempty"`
	Why   string          `json:"why,omitempty"`
	Base  health.Baseline `json:"base,omitempty"`
}
