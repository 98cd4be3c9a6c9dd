package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/all"
)

// runCommand makes `snag-lab run`.
func runCommand() *cobra.Command {
	var o lab.RunOptions
	var healthy, distractor bool
	c := &cobra.Command{
		Use:   "run NAME",
		Short: "Make one incident, run snag find beside it and show its verdict",
		Args:  cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			inc, err := lab.Find(all.Incidents, args[0])
			if err != nil {
				return cli.Usage("%v", err)
			}
			if healthy && distractor {
				return cli.Usage("--healthy and --distractor: one variant at a time")
			}
			v := lab.Sick
			if healthy {
				v = lab.Healthy
			}
			if distractor {
				v = lab.Distractor
			}
			if o.SnagPath, err = snagPath(o.SnagPath); err != nil {
				return err
			}
			if o.Out == "" {
				o.Out = filepath.Join(os.TempDir(), fmt.Sprintf("snag-lab-%s-%d", time.Now().Format("20060102-150405"), os.Getpid()))
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			o.Stdout = c.ErrOrStderr()
			var shown error
			o.Judged = func(r lab.Result) {
				shown = showVerdict(c.OutOrStdout(), o.SnagPath, r.Recording, r.Baseline)
				fmt.Fprintf(c.OutOrStdout(), "\n%s\n", outcome(r))
			}
			res, err := lab.Run(ctx, inc, v, o)
			err = errors.Join(err, shown)
			if err == nil && res.Outcome != lab.Right {
				err = fmt.Errorf("%s, %s: %s", res.Incident, res.Variant, res.Outcome)
			}
			return err
		},
	}
	c.Flags().BoolVar(&healthy, "healthy", false, "the same topology and traffic without the fault")
	c.Flags().BoolVar(&distractor, "distractor", false, "what looks like the fault and is not")
	c.Flags().BoolVar(&o.Keep, "keep", false, "leave the incident going after the verdict until Ctrl-C")
	c.Flags().StringVar(&o.Out, "out", "", "keep the recording in this folder (default: a new one under the temporary directory)")
	findFlags(c, &o)
	return c
}

// outcome is the line that follows a verdict, which names the culprits itself.
func outcome(r lab.Result) string {
	line := fmt.Sprintf("lab           %s, %s: %s", r.Incident, r.Variant, r.Outcome)
	if r.Why != "" {
		line += ": " + r.Why
	}
	return line
}

func findFlags(c *cobra.Command, o *lab.RunOptions) {
	c.Flags().DurationVar(&o.For, "for", 15*time.Second, "how long snag find records")
	c.Flags().StringVar((*string)(&o.Level), "level", string(lab.Plain), "how hard the incident hits: barely, plain or severe")
	c.Flags().BoolVar(&o.IgnoreElsewhere, "ignore-elsewhere", false,
		"leave out culprits in network namespaces of others, where others make incidents on this machine")
	c.Flags().StringVar(&o.SnagPath, "snag", "", "the snag binary that is judged (default: the one beside this program, else in PATH)")
}
