package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/all"
	"snag/lab/drawn"
	"snag/lab/referee"
)

// drawnCommand makes `snag-lab drawn`.
func drawnCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "drawn",
		Short: "Incidents of random sizes, judged by what their clients noticed",
		Long: `A family is a service with its clients and the faults that it can have. A seed draws all its
sizes. The same draw runs once healthy and once faulty; what the clients measured in both says
whether there was an incident. See docs/score.md.`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(drawnListCommand(), drawnRunCommand(), drawnScoreCommand(), drawnMergeCommand(), drawnNoiseCommand(), drawnBlameCommand())
	return c
}

func drawnListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Print the families and their faults",
		Args:  cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			w := c.OutOrStdout()
			for _, f := range all.Families {
				fmt.Fprintf(w, "%-28s %-8s %-18s %s\n", f.Name, f.Origin, f.Kind, strings.Join(f.Software, ", "))
				for _, x := range f.Faults {
					fmt.Fprintf(w, "%-28s   %s: %s\n", "", x.Name, strings.Join(x.Suspects, " or "))
				}
				for _, t := range f.Needs {
					if !t.Installed() {
						fmt.Fprintf(w, "%-28s   missing here: %s (Debian's %s): make setup-drawn installs it\n", "", t.Command, t.Package)
					}
				}
			}
			return nil
		},
	}
}

// drawnRunCommand makes `snag-lab drawn run`.
func drawnRunCommand() *cobra.Command {
	var o lab.RunOptions
	var seed uint64
	var fault, out string
	var healthy, faulty, quiet bool
	c := &cobra.Command{
		Use:   "run FAMILY",
		Short: "Make one draw, healthy and faulty, and show what was drawn, what clients noticed and the verdicts",
		Args:  cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := drawn.Find(all.Families, args[0])
			if err != nil {
				return cli.Usage("%v", err)
			}
			if fault != "" {
				if _, err := f.FaultNamed(fault); err != nil {
					return cli.Usage("%v", err)
				}
			}
			if healthy && faulty {
				return cli.Usage("--healthy and --faulty: without both, both are run")
			}
			if o.SnagPath, err = snagPath(o.SnagPath); err != nil {
				return err
			}
			if out == "" {
				if out, err = os.MkdirTemp("", "snag-drawn-"); err != nil {
					return err
				}
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			o.Stdout = c.ErrOrStderr()
			w := c.OutOrStdout()
			var before *drawn.Kept
			for _, run := range drawn.RunsOf(drawn.Case{Seed: seed, Families: []drawn.Family{f}, Fault: fault}) {
				if healthy && (run.Faulty || run.Quiet) || faulty && !run.Faulty {
					continue
				}
				o.Out = filepath.Join(out, run.Key())
				k, err := run.Run(ctx, o)
				if err != nil {
					return fmt.Errorf("%s: %w", run.Key(), err)
				}
				printRun(w, k, before)
				before = &k
				if !quiet {
					if err := showVerdict(w, o.SnagPath, o.Out, ""); err != nil {
						return err
					}
				}
				fmt.Fprintf(w, "recording     %s\n", o.Out)
			}
			return nil
		},
	}
	c.Flags().Uint64Var(&seed, "seed", 2, "of the draw; even ones are to develop on")
	c.Flags().StringVar(&fault, "fault", "", "this one of the family's faults (default: drawn)")
	c.Flags().BoolVar(&healthy, "healthy", false, "only the healthy run")
	c.Flags().BoolVar(&faulty, "faulty", false, "only the faulty run")
	c.Flags().BoolVar(&quiet, "quiet", false, "leave out the verdicts")
	c.Flags().StringVar(&out, "out", "", "keep the recordings in this folder (default: a new one under the temporary directory)")
	c.Flags().BoolVar(&o.Shared, "shared", false, "do not wait for other runs on this machine: to develop, never to measure")
	drawnFindFlags(c, &o)
	return c
}

func drawnFindFlags(c *cobra.Command, o *lab.RunOptions) {
	c.Flags().DurationVar(&o.For, "for", 8*time.Second, "how long snag find records")
	c.Flags().BoolVar(&o.IgnoreElsewhere, "ignore-elsewhere", false,
		"leave out what is found in network namespaces of others, where others make incidents on this machine")
	c.Flags().BoolVar(&o.Remedies, "remedies", false,
		"after the verdict on a fault that goes on, run the first culprit's command (now) and measure the clients for a second window")
	c.Flags().StringVar(&o.SnagPath, "snag", "", "the snag binary that is judged (default: the one beside this program, else in PATH)")
}

// printRun prints what was drawn and what the clients measured.
func printRun(w io.Writer, k drawn.Kept, before *drawn.Kept) {
	fmt.Fprintf(w, "\n== %s (%.1f s)\n", k.Key, k.Seconds)
	for i, p := range k.Parts {
		var names []string
		for n := range p.Values {
			names = append(names, n)
		}
		sort.Strings(names)
		for _, n := range names {
			fmt.Fprintf(w, "   %-28s %v\n", n, p.Values[n])
		}
		f := p.Figures
		f.Longest = nil
		fmt.Fprintf(w, "   clients: %+v\n", f)
		if t := p.Truth; t != nil {
			fmt.Fprintf(w, "   truth: %s, %s %v; %s on /%s/; account %s; %s\n", t.Fault, t.Lasting, t.Spans, strings.Join(t.Suspects, " or "), t.Subject, t.Account, strings.Join(t.Amount, "; "))
		}
		if before != nil {
			fmt.Fprintf(w, "   clients noticed: %s\n", referee.Compare(before.Parts[i].Figures, p.Figures))
		}
	}
	if k.Remedy != nil {
		fmt.Fprintf(w, "   remedy: %s\n", k.Remedy.Told(k, before))
	}
}

// drawnMergeCommand makes `snag-lab drawn merge`.
func drawnMergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge INTO FROM...",
		Short: "Bring the runs of several machines into one folder",
		Args:  cli.UsageArgs(cobra.MinimumNArgs(2)),
		RunE: func(c *cobra.Command, args []string) error {
			var errs []error
			for _, from := range args[1:] {
				n, err := drawn.Folder(args[0]).Merge(drawn.Folder(from))
				errs = append(errs, err)
				fmt.Fprintf(c.OutOrStdout(), "%s: %d runs\n", from, n)
			}
			return errors.Join(errs...)
		},
	}
}
