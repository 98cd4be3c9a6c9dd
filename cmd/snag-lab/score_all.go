package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/all"
	"snag/recording"
)

// scoreAllCommand makes `snag-lab score-all`.
func scoreAllCommand() *cobra.Command {
	var o lab.RunOptions
	var repeat, retry int
	var record, results string
	var pick choice
	c := &cobra.Command{
		Use:   "score-all",
		Short: "Run every incident in its three variants and count right, wrong and false",
		Args:  cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(c.Context())
			defer stop()
			list, err := pick.of(all.Incidents)
			if err != nil {
				return err
			}
			if o.SnagPath, err = snagPath(o.SnagPath); err != nil {
				return err
			}
			kept, err := keepResults(results)
			if err != nil {
				return err
			}
			defer kept.Close()
			o.Stdout = c.ErrOrStderr()
			var t lab.Tally
			for n := range repeat {
				for _, inc := range list {
					for _, v := range lab.Variants {
						if ctx.Err() != nil {
							return ctx.Err()
						}
						r := scoreOne(ctx, c.OutOrStdout(), inc, v, o, record, n)
						for again := 0; again < retry && r.Outcome != lab.Right && ctx.Err() == nil; again++ {
							fmt.Fprintf(c.OutOrStdout(), "%s, %s: once more, to tell a noisy machine from a fault\n", inc.Name, v)
							r = scoreOne(ctx, c.OutOrStdout(), inc, v, o, record, n)
						}
						t.Add(r)
						if err := kept.add(r); err != nil {
							return err
						}
					}
				}
			}
			t.Print(c.OutOrStdout())
			return t.Err()
		},
	}
	c.Flags().IntVar(&repeat, "repeat", 1, "runs of all")
	c.Flags().IntVar(&retry, "retry", 0, "run a variant that did not come out right again, this often, and count the last")
	c.Flags().StringVar(&record, "record", "", "keep each recording, packed, in this folder")
	c.Flags().StringVar(&results, "results", "", "write each result into this file as JSON, one a line")
	c.Flags().StringSliceVar(&pick.only, "only", nil, "only these incidents")
	c.Flags().BoolVar(&pick.long, "long", false, "also those that are too long for every commit")
	c.Flags().BoolVar(&pick.vm, "vm", false, "also those that need a separate machine (see make lab-vm)")
	findFlags(c, &o)
	return c
}

// scoreOne runs one variant and packs its recording as NAME-VARIANT[-N].snag.
func scoreOne(ctx context.Context, w io.Writer, inc lab.Incident, v lab.Variant, o lab.RunOptions, record string, n int) lab.Result {
	var dir string
	var err error
	if record != "" {
		if dir, err = os.MkdirTemp("", "snag-lab-recording-"); err == nil {
			defer os.RemoveAll(dir)
			o.Out = filepath.Join(dir, "recording")
		}
	}
	var res lab.Result
	if err == nil {
		res, err = lab.Run(ctx, inc, v, o)
	}
	if err == nil && record != "" {
		name := inc.Name + "-" + string(v)
		if n > 0 {
			name += fmt.Sprintf("-%d", n+1)
		}
		err = packInto(o.Out, filepath.Join(record, name+".snag"))
		if baseline := lab.BaselineOf(o.Out); err == nil && exists(baseline) {
			err = packInto(baseline, filepath.Join(record, name+"-baseline.snag"))
		}
	}
	if err != nil {
		res = lab.Result{Incident: inc.Name, Variant: v, Outcome: lab.Failed, Why: err.Error()}
	}
	lab.PrintResult(w, res)
	return res
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func packInto(dir, file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("keep the recording: %w", err)
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("keep the recording: %w", err)
	}
	return errors.Join(recording.Pack(dir, f), f.Close())
}
