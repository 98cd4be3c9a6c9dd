package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/units"
	"snag/load"
	"snag/load/shape"
	"snag/report/loaded"
)

func sweepRates(ctx context.Context, cmd *cobra.Command, f *loadFlags, a asked) (err error) {
	s := load.Sweep{Plan: a.plan, From: a.from, To: a.to, Conns: a.conns, Repeats: f.repeats, Targets: several(a.sizes), Seed: uint64(time.Now().UnixNano())}
	say := func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), text) }
	say(fmt.Sprintf("%s, about %s", units.Plural(len(s.Steps()), "step"), s.Took().Round(time.Second)))
	out := loaded.Sweep{Target: a.plan.Target.Name}
	if out.Null, err = load.CalibrateSweep(ctx, s); err != nil {
		return fmt.Errorf("measure a server of our own first: %w", err)
	}
	if out.Swept, err = load.RunSweep(ctx, s, func(n, of int, p shape.Point) { say(stepText(n, of, p)) }); err != nil {
		return err
	}
	out.Read = load.Read(ctx, s, out.Points, say)
	if f.html != "" {
		if err := writePage(f.html, out); err != nil {
			return err
		}
	}
	if f.html == "-" {
		out.Text(cmd.ErrOrStderr())
	} else if err := show(cmd, f.json, out); err != nil {
		return err
	}
	if out.Ended != "" || out.NotOurs() {
		return &cli.Exit{Code: cli.ExitCantTell}
	}
	return nil
}

func stepText(n, of int, p shape.Point) string {
	text := fmt.Sprintf("%d/%d  %s requests/s on %d: ", n, of, units.Count(p.Rate), p.Conns)
	switch {
	case p.Failed:
		return text + p.Why
	case p.P50 == 0:
		return text + "no answer"
	}
	return text + fmt.Sprintf("%s answers/s, p50 %s", units.Count(p.Answers), units.Short(p.P50))
}

// several are sizes to try; of one there is nothing to tell apart.
func several(all []load.SizedTarget) []load.SizedTarget {
	if len(all) < 2 {
		return nil
	}
	return all
}

func writePage(path string, s loaded.Sweep) error {
	if path == "-" {
		return s.HTML(os.Stdout)
	}
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := s.HTML(w); err != nil {
		return err
	}
	return w.Close()
}
