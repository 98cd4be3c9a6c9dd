package main

import (
	"context"
	"io"
	"time"

	"snag/lab"
	"snag/lab/score"
)

// makeRuns makes what the folder does not have, and again what did not come out
// right, as often as --retry says. It returns how many came out right only then.
func makeRuns(ctx context.Context, w io.Writer, folder score.Folder, cases []score.Case, f scoreFlags) (flaky int, err error) {
	runs := score.Runs{
		Folder: folder, For: f.run.For, Budget: f.budget, OnlyTheirs: f.run.IgnoreElsewhere,
		Machine: thisMachine(), Progress: w, Now: time.Now,
		Make: func(ctx context.Context, c score.Case, out string) (lab.Result, error) {
			o := f.run
			o.Out, o.Level = out, c.Level
			return lab.RunTogether(ctx, c.Incidents, c.Variant, o)
		},
	}
	if _, err := runs.All(ctx, cases); err != nil {
		return 0, err
	}
	if f.retry == 0 {
		return 0, nil
	}
	return runs.Again(ctx, cases, f.retry, func() (map[string]bool, error) { return wrong(folder, cases) })
}

// wrong are the keys of the runs that did not come out right.
func wrong(folder score.Folder, cases []score.Case) (map[string]bool, error) {
	sheets, _, err := score.Evaluate(folder, cases, judges[:1])
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, m := range sheets[0].Marks {
		if m.Outcome != lab.Right {
			out[m.Key] = true
		}
	}
	return out, nil
}
