package hosts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"snag/fleet/prom"
)

// Ranger is a store that answers for a span of time.
type Ranger interface {
	QueryRange(ctx context.Context, expression string, from, to time.Time, step time.Duration) (prom.Range, error)
}

// Timeline are the incidents of a span of time, as the recorders of the chosen hosts sent them.
type Timeline struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Step is how exactly the ends of incidents are known, in seconds. Beginnings are exact.
	Step float64 `json:"step_seconds"`
	// Seen and Affected count the hosts of each step, oldest first: whose recorder sent something, and which had an
	// incident. Where none is seen, nothing is known.
	Seen     []int `json:"seen"`
	Affected []int `json:"affected"`
	// Rows are those with an incident that goes on first, then those whose last one is the latest.
	Rows     []Row    `json:"rows"`
	Left     int      `json:"left,omitempty"` // rows that are left out
	Warnings []string `json:"warnings"`       // what the store could not say
}

// Row are the incidents of a host with one culprit.
type Row struct {
	Host      string `json:"host"`
	Suspect   string `json:"suspect,omitempty"` // left out: no culprit was proved
	Subject   string `json:"subject,omitempty"` // of the last one
	Incidents []Past `json:"incidents"`         // newest first
	Left      int    `json:"left,omitempty"`    // older ones that are left out
}

// Past is one incident.
type Past struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"` // zero: it goes on
	// Began is the second in which it began by its host's clock, since the epoch: its host knows it by that.
	Began int64 `json:"began"`
}

// Bounds of a timeline.
const (
	mostRows = 200
	mostPast = 100 // incidents of a row
	// steps are the points of each series that the store is asked for.
	steps = 288
)

// ReadTimeline asks for the incidents of a span of time before the fleet's. chosen are matchers of the hosts, as in
// Read.
func (f *Fleet) ReadTimeline(ctx context.Context, q Ranger, chosen string, span time.Duration) (*Timeline, error) {
	step := max(span/steps, time.Second).Truncate(time.Second)
	// Whole steps: a store that keeps answers has those of the last time.
	to := f.At.Truncate(step).Add(step)
	p := pasts{fleet: f, from: to.Add(-step * (steps - 1)), to: to, step: step}
	over := fmt.Sprintf("[%ds]", int(step.Seconds()))
	for _, one := range []struct {
		ask  string
		take func([]prom.Series)
	}{
		{"count(count by (instance) (snag_record_up{" + chosen + "}))", p.takeSeen},
		{"max by (instance) (max_over_time(snag_incident_begin_timestamp_seconds{" + chosen + "}" + over + "))", p.takeBegins},
		{"max by (instance, suspect, subject) (min_over_time(snag_incident_culprit{" + chosen + "}" + over + ") == 1)", p.takeCulprits},
	} {
		a, err := q.QueryRange(ctx, one.ask, p.from, p.to, step)
		if err != nil {
			return nil, err
		}
		one.take(a.Series)
		for _, text := range a.Warnings {
			if !slices.Contains(p.warnings, text) {
				p.warnings = append(p.warnings, text)
			}
		}
	}
	return p.timeline(), nil
}
