package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/probes"
	"snag/recording"
	"snag/verdict"
)

// symptomOf measures one of snag's own symptoms: a short recording, judged. The sum of
// all subjects' amounts each second; 0 where it was looked for and not seen.
func symptomOf(ctx context.Context, name string, length time.Duration) (float64, error) {
	tmp, err := os.MkdirTemp("", "snag-ablate-")
	if err != nil {
		return 0, fmt.Errorf("make a folder for a short recording: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	dir := filepath.Join(tmp, "recording")
	if err := probes.Record(ctx, probes.Plan{Dir: dir, For: max(length, time.Second), Snag: version, Between: giveBack,
		Notice: func(string) {}, Tick: func(time.Duration) {}}); err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	r, err := recording.Open(dir)
	if err != nil {
		return 0, err
	}
	v := verdict.Judge(r)
	seconds := v.Scene.Window.Length(v.Scene.Window.End).Seconds()
	if seconds <= 0 {
		return 0, fmt.Errorf("measure %s: the recording is empty", name)
	}
	sum := 0.0
	for _, s := range v.Symptoms {
		if s.Name == name && !s.Reported {
			sum += s.Amount / seconds
		}
	}
	return sum, nil
}
