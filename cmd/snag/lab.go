package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/lab"
	"snag/lab/actor"
	"snag/lab/all"
	"snag/recording"
)

// labCommand makes `snag lab`.
func labCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Make real incidents here and see whether snag finds them",
		Long: "Makes real incidents on this machine in network namespaces of their own, each with a healthy\n" +
			"twin and a distractor, and runs snag find beside them. Needs root. Removes all that it made,\n" +
			"even when it is killed.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(labListCommand(), labRunCommand(), labScoreCommand(), demoCommand())
	return c
}

func labListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Print the incidents",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			for _, i := range all.Incidents {
				fmt.Fprintf(c.OutOrStdout(), "%-26s %s\n%-26s distractor: %s\n", i.Name, i.Title, "", i.Distractor)
				if i.VM != nil {
					fmt.Fprintf(c.OutOrStdout(), "%-26s needs a machine of its own: make lab-vm\n", "")
				}
				for _, t := range lab.Missing(i) {
					fmt.Fprintf(c.OutOrStdout(), "%-26s missing here: %s (apt-get install %s)\n", "", t.Command, t.Package)
				}
			}
			return nil
		},
	}
}

func labRunCommand() *cobra.Command {
	var o lab.RunOptions
	var healthy, distractor bool
	c := &cobra.Command{
		Use:   "run NAME",
		Short: "Make one incident and run snag find beside it",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			inc, err := lab.Find(all.Incidents, args[0])
			if err != nil {
				return usage("%v", err)
			}
			if healthy && distractor {
				return usage("--healthy and --distractor: one variant at a time")
			}
			v := lab.Sick
			if healthy {
				v = lab.Healthy
			}
			if distractor {
				v = lab.Distractor
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			o.Stdout = c.ErrOrStderr()
			o.Judged = func(r lab.Result) { lab.PrintResult(c.OutOrStdout(), r) }
			res, err := lab.Run(ctx, inc, v, o)
			if err == nil && res.Outcome != lab.Right {
				err = fmt.Errorf("%s, %s: %s", res.Incident, res.Variant, res.Outcome)
			}
			return err
		},
	}
	c.Flags().BoolVar(&healthy, "healthy", false, "the same topology and traffic without the fault")
	c.Flags().BoolVar(&distractor, "distractor", false, "what looks like the fault and is not")
	c.Flags().BoolVar(&o.Keep, "keep", false, "leave the incident going after the verdict until Ctrl-C")
	c.Flags().StringVar(&o.Out, "out", "", "keep the recording in this folder")
	labFindFlags(c, &o)
	return c
}

func labFindFlags(c *cobra.Command, o *lab.RunOptions) {
	c.Flags().DurationVar(&o.For, "for", 15*time.Second, "how long snag find records")
	c.Flags().StringVar((*string)(&o.Level), "level", string(lab.Plain), "how hard the incident hits: barely, plain or severe")
	c.Flags().BoolVar(&o.IgnoreElsewhere, "ignore-elsewhere", false,
		"leave out culprits in network namespaces of others, where others make incidents on this machine")
	c.Flags().StringVar(&o.SnagPath, "snag", "", "the snag binary that is judged (default: this one)")
}

func labScoreCommand() *cobra.Command {
	var o lab.RunOptions
	var repeat, retry int
	var record, results string
	var pick choice
	c := &cobra.Command{
		Use:   "score-all",
		Short: "Run every incident in its three variants and count right, wrong and false",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(c.Context())
			defer stop()
			list, err := pick.of(all.Incidents)
			if err != nil {
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
	c.Flags().BoolVar(&pick.vm, "vm", false, "also those that need a machine of their own (see make lab-vm)")
	labFindFlags(c, &o)
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
	}
	if err != nil {
		res = lab.Result{Incident: inc.Name, Variant: v, Outcome: lab.Failed, Why: err.Error()}
	}
	lab.PrintResult(w, res)
	return res
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

// untilSignal ends on Ctrl-C and kin, so that what was made is removed.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx == nil {
		ctx = context.Background()
	}
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// labJanitorCommand is the hidden process that removes what a killed lab left.
func labJanitorCommand() *cobra.Command {
	return &cobra.Command{
		Use:    lab.JanitorCommand + " TOKEN",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return lab.Janitor(os.Stdin, args[0]) },
	}
}

// labActorCommand is one program of an incident; its flags are its own.
func labActorCommand() *cobra.Command {
	return &cobra.Command{
		Use:                lab.ActorCommand + " NAME",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("lab-actor is called by snag lab run, with the name of an actor")
			}
			return actor.Run(args)
		},
	}
}
