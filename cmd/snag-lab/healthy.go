package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/busy"
	"snag/lab/score"
)

// healthyCommand makes `snag-lab healthy`.
func healthyCommand() *cobra.Command {
	var o lab.RunOptions
	var finds int
	var dir string
	c := &cobra.Command{
		Use:   "healthy",
		Short: "Run snag find on a machine that is busy and well, and count whom it accuses",
		Long: `Makes an ordinary service under light load (nginx, a video call) and beside it, in
turns, a compile, a backup, a package install and twice as many busy threads as
CPUs; runs snag find on it again and again. Nobody is to be accused. Nothing of the
host is changed. What --dir has already is not made again.`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if dir == "" {
				return cli.Usage("give --dir DIR, where the recordings are kept")
			}
			if finds < 1 {
				return cli.Usage("--finds %d: at least 1", finds)
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			var err error
			if o.SnagPath, err = snagPath(o.SnagPath); err != nil {
				return err
			}
			o.Stdout = nil
			return runHealthy(ctx, c.OutOrStdout(), score.Folder(dir), healthyCases(finds), o)
		},
	}
	c.Flags().IntVar(&finds, "finds", 30, "how often, over all loads")
	c.Flags().StringVar(&dir, "dir", "", "keep the recordings in this folder")
	findFlags(c, &o)
	return c
}

// healthyCases takes the loads in turns until there are as many cases as asked for.
func healthyCases(finds int) []score.Case {
	var out []score.Case
	for n := range finds {
		out = append(out, score.Case{
			Incidents: []lab.Incident{busy.Loads[n%len(busy.Loads)]},
			Variant:   lab.Healthy, Level: lab.Plain, Round: n / len(busy.Loads),
		})
	}
	return out
}

func runHealthy(ctx context.Context, w io.Writer, folder score.Folder, cases []score.Case, o lab.RunOptions) error {
	runs := score.Runs{
		Folder: folder, For: o.For, OnlyTheirs: o.IgnoreElsewhere, Machine: thisMachine(), Progress: w, Now: time.Now,
		Make: func(ctx context.Context, c score.Case, out string) (lab.Result, error) {
			o.Out = out
			return lab.RunTogether(ctx, c.Incidents, c.Variant, o)
		},
	}
	if _, err := runs.All(ctx, cases); err != nil {
		return err
	}
	for _, c := range cases {
		if _, r, err := folder.Load(c.Key()); err == nil && r != nil {
			fmt.Fprintf(w, "%-32s %s\n", c.Key(), busy.Seen(r))
		}
	}
	sheets, _, err := score.Evaluate(folder, cases, judges)
	if err != nil {
		return err
	}
	for _, s := range sheets {
		fmt.Fprintf(w, "%s: %d accused, in %d of %d finds\n", s.Judge, s.All.False, s.All.FalseRuns, len(s.Marks))
		for _, m := range s.Marks {
			for _, f := range m.False {
				fmt.Fprintf(w, "  %s: %s\n", m.Key, f)
			}
		}
	}
	if snag := sheets[0].All; snag.FalseRuns > 0 || snag.Failed > 0 {
		return fmt.Errorf("healthy: %d of %d finds accused somebody, %d gave no verdict", snag.FalseRuns, len(cases), snag.Failed)
	}
	return nil
}
