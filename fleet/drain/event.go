// Package drain restarts or maintains peers in steps: a batch is taken out of service, its connections end, it is
// restarted, answers, and is returned, and the next batch begins only while all that the plan watches is healthy
// (docs/drain.md). Everything that is done is in a journal before it is done.
package drain

import (
	"strings"
	"time"

	"snag/fleet/drain/plan"
)

// Kind of an event.
type Kind string

// The kinds.
const (
	EvBegun   Kind = "begun"   // Text: the batches
	EvNote    Kind = "note"    // Text
	EvBatch   Kind = "batch"   // Batch, Peers
	EvDid     Kind = "did"     // Peer, Phase, Text: the action; Seconds
	EvFailed  Kind = "failed"  // the same, Text: the action and why
	EvWaits   Kind = "waits"   // Peer, Phase, Text: what it waits for
	EvPassed  Kind = "passed"  // Peer, Phase, Text; Seconds
	EvHealthy Kind = "healthy" // Text: what was looked at
	EvUnknown Kind = "unknown" // Text: what is not known, and so not healthy
	EvPause   Kind = "pause"   // Seconds
	EvStopped Kind = "stopped" // Batch, Peer, Phase, Text; Out
	EvDone    Kind = "done"    // Seconds
)

// Event is what happens, for whoever shows it.
type Event struct {
	At      time.Time  `json:"at"`
	Event   Kind       `json:"event"`
	Batch   int        `json:"batch,omitempty"` // from 1
	Of      int        `json:"of,omitempty"`    // batches
	Peers   []string   `json:"peers,omitempty"`
	Peer    string     `json:"peer,omitempty"`
	Phase   plan.Phase `json:"phase,omitempty"`
	Text    string     `json:"text,omitempty"`
	Seconds float64    `json:"seconds,omitempty"`
	Out     []string   `json:"out_of_service,omitempty"`
	Left    []string   `json:"not_restarted,omitempty"`
	Why     Why        `json:"why,omitempty"`
}

// Why a drain stops.
type Why string

// The reasons.
const (
	Hurts   Why = "hurts"     // a step hurts, or failed
	Unknown Why = "not known" // health or connections could not be measured
	Signal  Why = "signal"    // SIGINT, SIGTERM or SIGHUP
	Broken  Why = "journal"   // it could not be written
)

// Stop is why a drain stopped, and what is left.
type Stop struct {
	Why   Why
	Batch int // from 1; 0: before the first
	Of    int
	Peer  string // "": none in particular
	Phase plan.Phase
	Text  []string // the evidence
	Out   []string // peers that are out of service
	Left  []string // that were not restarted
	Err   error
}

func (s *Stop) Error() string { return strings.Join(s.Text, "; ") }

func (s *Stop) Unwrap() error { return s.Err }
