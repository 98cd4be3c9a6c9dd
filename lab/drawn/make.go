package drawn

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/score"
)

// Runs makes what a folder does not have yet.
type Runs struct {
	Folder   Folder
	Options  lab.RunOptions
	Machine  score.Machine
	Commit   string
	Budget   time.Duration // no run is begun after it; 0: no limit
	Progress io.Writer
	// Watches: snag watch runs beside snag find, and what it says is kept.
	Watches bool
	// Again: runs that gave no recording are made once more.
	Again bool
}

// All makes the missing runs in their order. A run that fails is noted, and the rest goes
// on; an error is that of a folder that can't be written, or of the context.
func (r Runs) All(ctx context.Context, cases []Case) (left int, err error) {
	begin := time.Now()
	made, took := 0, time.Duration(0)
	for i, c := range cases {
		// A control is made at once, where the run before asks for one.
		for _, c := range []Case{c, c.untreated()} {
			if r.Folder.Has(c.Key(), !r.Again) || c.Untreated && !r.wantsControl(c) {
				continue
			}
			if r.Budget > 0 && time.Since(begin)+took/time.Duration(max(1, made)) > r.Budget {
				return len(cases) - i, nil
			}
			start := time.Now()
			k, err := r.one(ctx, c)
			if err != nil {
				return len(cases) - i, err
			}
			made, took = made+1, took+time.Since(start)
			how := "made"
			if k.Error != "" {
				how = "FAILED: " + k.Error
			}
			fmt.Fprintf(r.Progress, "%4d/%d  %-60s %5.1f s  %s\n", i+1, len(cases), c.Key(), k.Seconds, how)
		}
	}
	return 0, nil
}

func (c Case) untreated() Case {
	c.Untreated = true
	return c
}

// wantsControl reports whether clients measured worse figures after a command than before it. The
// fault itself may be worse by then, which the same draw without the command shows.
func (r Runs) wantsControl(c Case) bool {
	if !r.Options.Remedies || !c.Faulty {
		return false
	}
	treated, healthy := c, c
	treated.Untreated = false
	healthy.Untreated, healthy.Faulty = false, false
	k, err := r.Folder.Note(treated.Key())
	without, errHealthy := r.Folder.Note(healthy.Key())
	if err != nil || errHealthy != nil || k.Error != "" {
		return false
	}
	h, err := healedOf(k, &without, nil)
	return err == nil && h != nil && h.Worse != ""
}

func (r Runs) one(ctx context.Context, c Case) (Kept, error) {
	dir, err := os.MkdirTemp("", "snag-drawn-")
	if err != nil {
		return Kept{}, err
	}
	defer os.RemoveAll(dir)
	o := r.Options
	o.Out = filepath.Join(dir, "recording")
	if r.Watches {
		o.Watches = filepath.Join(dir, "watches")
		if err := os.Mkdir(o.Watches, 0o755); err != nil {
			return Kept{}, err
		}
	}
	k, err := c.Run(ctx, o)
	if ctx.Err() != nil {
		return k, ctx.Err() // it was stopped: it is not a failure of the run
	}
	k.Machine, k.Commit = r.Machine, r.Commit
	if err != nil {
		k.Error = err.Error()
	}
	return k, r.Folder.Keep(o.Out, k)
}
