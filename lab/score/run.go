package score

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
)

// Maker makes one case's incidents and runs snag find beside them into the folder
// out.
type Maker func(ctx context.Context, c Case, out string) (lab.Result, error)

// Runs makes what a folder does not have yet.
type Runs struct {
	Folder Folder
	Make   Maker
	For    time.Duration // how long snag find records
	Budget time.Duration // nothing is begun that would end after it; 0: no limit
	// OnlyTheirs: what was found in namespaces of others does not count.
	OnlyTheirs bool
	Machine    Machine
	Progress   io.Writer
	Now        func() time.Time
}

// beside is what a run takes besides recording, until it has been measured: the
// incident to be made and removed, the judging.
const beside = 4 * time.Second

// Missing lists the cases that are not in the folder.
func (r Runs) Missing(cases []Case) []Case {
	var out []Case
	for _, c := range cases {
		if !r.Folder.Has(c.Key()) {
			out = append(out, c)
		}
	}
	return out
}

// Estimate is how long the cases will take, by the notes of runs in the folder:
// of the same incident, else of all.
func (r Runs) Estimate(all []Case, cases []Case) time.Duration {
	sum, n := map[string]time.Duration{}, map[string]int{}
	for _, c := range all {
		k, err := r.Folder.Note(c.Key())
		if err != nil || k.Error != "" {
			continue
		}
		for _, name := range []string{c.Name(), ""} {
			sum[name] += time.Duration((k.Seconds - k.For) * float64(time.Second))
			n[name]++
		}
	}
	var total time.Duration
	for _, c := range cases {
		extra := beside
		for _, name := range []string{"", c.Name()} {
			if n[name] > 0 {
				extra = sum[name] / time.Duration(n[name])
			}
		}
		total += r.For + extra
	}
	return total
}

// All makes the missing cases in their order, and returns those left out because
// of the budget. A run that fails is noted and the rest goes on; an error is that
// of the folder, or of the context.
func (r Runs) All(ctx context.Context, cases []Case) (left []Case, err error) {
	missing := r.Missing(cases)
	begin := r.Now()
	fmt.Fprintf(r.Progress, "%d runs, %d of them kept in %s already; the rest takes about %s\n",
		len(cases), len(cases)-len(missing), r.Folder, r.Estimate(cases, missing).Round(time.Minute/6))
	for i, c := range missing {
		if err := ctx.Err(); err != nil {
			return missing[i:], err
		}
		if r.Budget > 0 && r.Now().Sub(begin)+r.Estimate(cases, missing[i:i+1]) > r.Budget {
			fmt.Fprintf(r.Progress, "%s are over: %d runs left out, from %s on; the same command goes on there\n", r.Budget, len(missing)-i, c.Key())
			return missing[i:], nil
		}
		if err := r.One(ctx, c); err != nil {
			return missing[i:], err
		}
	}
	return nil, nil
}

// One makes a case and keeps what came of it.
func (r Runs) One(ctx context.Context, c Case) error {
	dir, err := os.MkdirTemp("", "snag-lab-score-")
	if err != nil {
		return fmt.Errorf("score %s: make a temporary folder: %w", c.Key(), err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "recording")
	made := r.Now()
	res, err := r.Make(ctx, c, out)
	if ctx.Err() != nil {
		return ctx.Err() // called off: not the incident's failure
	}
	k := Kept{
		Key: c.Key(), Made: made.UTC().Round(time.Second), Machine: r.Machine, For: r.For.Seconds(),
		Seconds: res.Seconds, FindSeconds: res.FindSeconds, Stolen: res.Stolen,
		Namespaces: Sorted(res.Namespaces), OnlyThese: r.OnlyTheirs,
	}
	line := fmt.Sprintf("%-44s %-10s %5.1f s", c.Key(), res.Outcome, res.Seconds)
	if err != nil {
		k.Error = err.Error()
		line = fmt.Sprintf("%-44s %-10s", c.Key(), lab.Failed)
		res.Why = k.Error
	}
	fmt.Fprintf(r.Progress, "%s  %s\n", line, res.Why)
	return r.Folder.Keep(out, k)
}
