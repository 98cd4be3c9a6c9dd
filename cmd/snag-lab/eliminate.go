package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab/elimination"
)

type eliminateFlags struct {
	snag, json  string
	only        []string
	seed        uint64
	seeds, wide int
}

// eliminateCommand makes `snag-lab eliminate`.
func eliminateCommand() *cobra.Command {
	var f eliminateFlags
	c := &cobra.Command{
		Use:   "eliminate",
		Short: "Situations in which a service is slow for one reason, or well, judged by snag eliminate",
		Long: `Makes each situation with sizes that a seed draws, runs snag eliminate on its client, and counts
how often the right suspect is found first, is left, and is ruled out though it is guilty.`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return runEliminate(c, f) },
	}
	c.Flags().StringVar(&f.snag, "snag", "", "the snag binary that is judged (default: the one beside this program, else in PATH)")
	c.Flags().StringSliceVar(&f.only, "only", nil, "only these situations")
	c.Flags().Uint64Var(&f.seed, "seed", 2, "the first seed; even ones are to develop on")
	c.Flags().IntVar(&f.seeds, "seeds", 1, "how many seeds: this one, the next but one, and so on")
	c.Flags().IntVar(&f.wide, "parallel", 1, "situations at the same time; a busy machine is a finding too, so that 1 is what counts")
	c.Flags().StringVar(&f.json, "json", "", "keep the outcomes in this file, one JSON line each")
	return c
}

func (f eliminateFlags) situations() (out []elimination.Situation, err error) {
	if f.seeds < 1 || f.wide < 1 {
		return nil, cli.Usage("--seeds %d --parallel %d: at least 1", f.seeds, f.wide)
	}
	for _, n := range f.only {
		if !slices.ContainsFunc(elimination.Situations, func(s elimination.Situation) bool { return s.Name == n }) {
			var all []string
			for _, s := range elimination.Situations {
				all = append(all, s.Name)
			}
			return nil, cli.Usage("no situation named %q: %s", n, strings.Join(all, ", "))
		}
	}
	for _, s := range elimination.Situations {
		if len(f.only) == 0 || slices.Contains(f.only, s.Name) {
			out = append(out, s)
		}
	}
	return out, nil
}

func runEliminate(c *cobra.Command, f eliminateFlags) error {
	all, err := f.situations()
	if err != nil {
		return err
	}
	if f.snag, err = snagPath(f.snag); err != nil {
		return err
	}
	keep, err := keepResults(f.json)
	if err != nil {
		return err
	}
	defer keep.Close()
	ctx, stop := untilSignal(c.Context())
	defer stop()
	var mu sync.Mutex
	var sum elimination.Sum
	var failed error
	took := func(o elimination.Outcome, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = err
			fmt.Fprintln(c.ErrOrStderr(), err)
			return
		}
		sum.Add(o)
		printOutcome(c.OutOrStdout(), o)
		if err := keep.write(o.Situation, o); err != nil {
			failed = err
		}
	}
	f.each(ctx, all, took)
	fmt.Fprintln(c.OutOrStdout(), sum)
	return failed
}

// each runs all situations with all seeds, so many at a time.
func (f eliminateFlags) each(ctx context.Context, all []elimination.Situation, took func(elimination.Outcome, error)) {
	var running sync.WaitGroup
	turn := make(chan string, f.wide)
	for i := range f.wide {
		turn <- string(rune('a' + i))
	}
	for n := range f.seeds {
		for _, s := range all {
			suffix := <-turn
			if ctx.Err() != nil {
				break
			}
			running.Go(func() {
				defer func() { turn <- suffix }()
				took(elimination.Run(ctx, s, f.seed+2*uint64(n), elimination.Options{Snag: f.snag, Suffix: suffix}))
			})
		}
	}
	running.Wait()
}

func printOutcome(w io.Writer, o elimination.Outcome) {
	mark := "right"
	switch {
	case len(o.RuledOut) > 0:
		mark = "GUILTY RULED OUT: " + strings.Join(o.RuledOut, ", ")
	case !o.Right:
		mark = "WRONG"
	}
	values, _ := json.Marshal(o.Values) // numbers and words
	fmt.Fprintf(w, "%s %d: %s (%.0f s)\n  %s\n  %s\n", o.Situation, o.Seed, mark, o.Seconds, o.First, values)
}
