package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/all"
)

// remedyCommand makes `snag-lab remedy`.
func remedyCommand() *cobra.Command {
	var o lab.RunOptions
	var wrong, both, vm bool
	var repeat int
	var results string
	c := &cobra.Command{
		Use:   "remedy [NAME...]",
		Short: "Make incidents, heal them by snag's own plan, and see whether verify says so",
		Long: `Makes each incident, has snag find it, plan, apply, verify and undo by its command line, and
looks whether the symptom was called gone and the old values are back. --wrong applies a
plan that does not help: it must never be called a success. Without names: all that have
a remedy that can be applied here.`,
		Args: cli.UsageArgs(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, args []string) error {
			if wrong && both {
				return cli.Usage("--wrong and --both: one of them")
			}
			list, err := remedyable(args, vm)
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
			ctx, stop := untilSignal(c.Context())
			defer stop()
			o.Stdout = c.ErrOrStderr()
			var t remedyTally
			for range repeat {
				for _, inc := range list {
					for _, w := range []bool{false, true} {
						if !both && w != wrong {
							continue
						}
						if ctx.Err() != nil {
							return ctx.Err()
						}
						r := remedyOne(ctx, c.OutOrStdout(), inc, w, o)
						t.add(r)
						if err := kept.write(inc.Name, r); err != nil {
							return err
						}
					}
				}
			}
			return t.tell(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&wrong, "wrong", false, "apply a plan that does not help")
	c.Flags().BoolVar(&both, "both", false, "the right plan and the wrong one, in turns")
	c.Flags().BoolVar(&vm, "vm", false, "with those that need a separate machine")
	c.Flags().IntVar(&repeat, "repeat", 1, "how often")
	c.Flags().StringVar(&results, "results", "", "add each result to this file, a JSON object a line")
	c.Flags().StringVar(&o.Out, "out", "", "keep the recording from before in this folder (of one run)")
	findFlags(c, &o)
	return c
}

// remedyable are the incidents of those names, or all, that have a remedy.
func remedyable(names []string, vm bool) (list []lab.Incident, err error) {
	for _, name := range names {
		inc, err := lab.Find(all.Incidents, name)
		if err != nil {
			return nil, cli.Usage("%v", err)
		}
		if inc.Remedy == nil {
			return nil, cli.Usage("%s has no remedy that can be applied here", name)
		}
		list = append(list, inc)
	}
	if len(names) > 0 {
		return list, nil
	}
	for _, inc := range all.Incidents {
		if inc.Remedy != nil && (inc.VM == nil || vm) {
			list = append(list, inc)
		}
	}
	return list, nil
}

func remedyOne(ctx context.Context, out io.Writer, inc lab.Incident, wrong bool, o lab.RunOptions) lab.RemedyResult {
	r, err := lab.RunRemedy(ctx, inc, wrong, o)
	if err != nil {
		r.Why = strings.TrimSpace(r.Why + " " + err.Error())
		r.Back = false
	}
	word, plan := "right", "its plan"
	if !r.Right() {
		word = "NOT RIGHT"
	}
	if wrong {
		plan = "a wrong plan"
	}
	fmt.Fprintf(out, "%-26s %-12s %-10s %-9s %4.0f s  %s\n", inc.Name, plan, orDash(r.Outcome), word, r.Seconds, strings.Join(r.Changes, "; "))
	for _, line := range []string{r.Text, r.Why} {
		if line != "" {
			fmt.Fprintf(out, "%-26s %s\n", "", line)
		}
	}
	return r
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// remedyTally counts runs.
type remedyTally struct {
	healed, plans    int // of the right plans
	fooled, wrongs   int // wrong plans that were called a success
	notBack, nothing int
}

func (t *remedyTally) add(r lab.RemedyResult) {
	switch {
	case r.Outcome == "":
		t.nothing++
	case !r.Back:
		t.notBack++
	}
	success := r.Outcome == "gone" || r.Outcome == "reduced"
	if r.Wrong {
		t.wrongs++
		if success {
			t.fooled++
		}
		return
	}
	t.plans++
	if r.Outcome == "gone" {
		t.healed++
	}
}

func (t *remedyTally) tell(out io.Writer) error {
	if t.plans > 0 {
		fmt.Fprintf(out, "gone: %d of %d\n", t.healed, t.plans)
	}
	if t.wrongs > 0 {
		fmt.Fprintf(out, "wrong plans called a success: %d of %d\n", t.fooled, t.wrongs)
	}
	if t.nothing > 0 {
		fmt.Fprintf(out, "not come to a verdict: %d\n", t.nothing)
	}
	if t.notBack > 0 {
		fmt.Fprintf(out, "old values not back: %d\n", t.notBack)
	}
	if t.healed < t.plans || t.fooled > 0 || t.notBack > 0 || t.nothing > 0 {
		return errors.New("not all remedies healed, or a wrong one was called a success")
	}
	return nil
}
