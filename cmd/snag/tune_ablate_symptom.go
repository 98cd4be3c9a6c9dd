package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/internal/cli"
	"snag/probes"
	"snag/recording"
	"snag/remedies/plan"
	"snag/remedies/verify"
	"snag/verdict"
)

// symptomMeter measures one of snag's own symptoms: a short recording, judged.
type symptomMeter struct {
	suspect string // of the plan; "": any
	unit    string // of the plan, or of the first that was seen
	target  recording.Target
}

func newSymptomMeter(p *plan.Plan, netns string) *symptomMeter {
	m := &symptomMeter{target: recording.Target{Netns: netns}}
	if p != nil {
		m.suspect, m.unit = p.For.Suspect, p.Verify.Unit
	}
	return m
}

// measure is the symptom's amount each second (of a latency its mean); 0 where it was
// looked for and not seen.
func (m *symptomMeter) measure(ctx context.Context, name string, length time.Duration) (float64, error) {
	tmp, err := os.MkdirTemp("", "snag-ablate-")
	if err != nil {
		return 0, fmt.Errorf("make a folder for a short recording: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	dir := filepath.Join(tmp, "recording")
	err = probes.Record(ctx, probes.Plan{Dir: dir, For: max(length, time.Second), Target: m.target, Snag: cli.Version, Between: giveBack,
		Notice: func(string) {}, Tick: func(time.Duration) {}})
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, err
	}
	r, err := recording.OpenOwn(dir)
	if err != nil {
		return 0, err
	}
	amount, unit, err := verify.Level(verdict.Judge(r), name, m.unit, m.suspect)
	if err == nil {
		m.unit = unit
	}
	return amount, err
}
