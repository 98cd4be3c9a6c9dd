package drawn

import (
	"time"

	"snag/lab/referee"
	"snag/lab/score"
)

// Kept is what is known of one run of a draw besides its recording: KEY.json.
type Kept struct {
	Key     string        `json:"key"`
	Seed    uint64        `json:"seed"`
	Faulty  bool          `json:"faulty"`
	Quiet   bool          `json:"quiet,omitempty"` // a noisy family without its noise
	Made    time.Time     `json:"made"`
	Machine score.Machine `json:"machine"`
	Commit  string        `json:"commit"`
	For     float64       `json:"for_seconds"` // of recording asked for
	Seconds float64       `json:"seconds"`     // that the whole run took
	Parts   []Part        `json:"parts"`       // the drawn family, and a second one at the same time
	// Namespaces of the run and of the lab itself; OnlyThese: others made something
	// beside it, in namespaces that do not count.
	Namespaces []uint64 `json:"namespaces,omitempty"`
	OnlyThese  bool     `json:"only_these,omitempty"`
	// Remedy is what the verdict's command did, in a faulty run with --remedies; nil in others.
	Remedy *Remedy `json:"remedy,omitempty"`
	// Heard is what snag watch said meanwhile; nil where none ran.
	Heard *Heard `json:"heard,omitempty"`
	// Error is why there is no recording.
	Error string `json:"error,omitempty"`
}

// Part is one family in a run: what was drawn, what was injected, what its clients
// measured.
type Part struct {
	Family  string          `json:"family"`
	Kind    Kind            `json:"kind"`
	Origin  Origin          `json:"origin"`
	Values  map[string]any  `json:"values"`
	Truth   *Truth          `json:"truth,omitempty"` // nil of a healthy family
	Figures referee.Figures `json:"clients"`
}

// Truth is what was injected; in the healthy run of a draw, what would have been.
type Truth struct {
	Fault    string   `json:"fault"`
	Suspects []string `json:"suspects"` // any of which is right
	Subject  string   `json:"subject"`  // a regular expression
	Also     []string `json:"also,omitempty"`
	Account  string   `json:"account"`
	Place    Place    `json:"place,omitempty"`
	Amount   []string `json:"amount,omitempty"`
	Lasting  Lasting  `json:"lasting"`
	// Spans in which the fault was on, seconds from the window's start.
	Spans []Span `json:"spans,omitempty"`
}
