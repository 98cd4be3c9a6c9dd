package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/load"
	"snag/report/loaded"
)

// bounded reads --until, and what it varies.
func (f *loadFlags) bounded(given func(string) bool, out *asked) error {
	if f.until == "" {
		return nil
	}
	b, err := load.ParseBound(f.until)
	if err != nil {
		return cli.Usage("--until: %v", err)
	}
	switch out.bound = &b; {
	case f.every > 0 && !given("conns"):
		if out.conns, err = load.ParseConns(triedSessions); err != nil {
			return err
		}
	case f.every > 0 && len(out.conns) == 1:
		return cli.Usage("--until tries many numbers of sessions: give a range such as --conns 1..1000")
	case f.every == 0 && (len(out.conns) > 1 || given("rate") && out.from == out.to):
		return cli.Usage("--until tries many rates: give it a range such as --rate 10..40k, and one number of --conns")
	case f.every == 0 && !given("rate"):
		out.from, out.to = 10, 1e6
	}
	return nil
}

// triedSessions are the numbers of sessions that are tried unless --conns says so.
const triedSessions = "1..10000"

// messagesOfStep is how many messages each session sends in a step, at least: the delay of sessions of which the
// service answers a few too few grows slowly.
const messagesOfStep = 20

// search is what --until varies.
func (a asked) search() load.Search {
	s := load.Search{Plan: a.plan, Bound: *a.bound, From: a.from, To: a.to, Every: a.every}
	if a.every > 0 {
		s.From, s.To = float64(a.conns[0]), float64(a.conns[len(a.conns)-1])
	}
	return s
}

func findLimit(ctx context.Context, cmd *cobra.Command, f *loadFlags, a asked) (err error) {
	s := a.search()
	out := loaded.Limit{Target: a.plan.Target.Name}
	if out.Null, err = load.CalibrateSearch(ctx, s); err != nil {
		return fmt.Errorf("measure a server of our own first: %w", err)
	}
	out.Limit, err = load.FindLimit(ctx, s, func(at float64, holds bool, _ *load.Result) {
		verb := "does not hold"
		if holds {
			verb = "holds"
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s %s\n", s.Shown(at), a.bound, verb)
	})
	if err != nil {
		return err
	}
	if err := show(cmd, f.json, out); err != nil {
		return err
	}
	if out.NotOurs != "" || out.Ended != "" {
		return &cli.Exit{Code: cli.ExitCantTell}
	}
	return nil
}
