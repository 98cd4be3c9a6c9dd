package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"snag/fleet/drain"
	"snag/fleet/drain/act"
	"snag/fleet/drain/health"
	"snag/fleet/drain/journal"
	"snag/fleet/drain/plan"
	"snag/fleet/hosts"
	"snag/fleet/prom"
	"snag/internal/cli"
	"snag/internal/post"
)

type drainFlags struct {
	how             drain.How
	again, skip     bool
	dry, json       bool
	journal, fleet  string
	fleetHeaderFile string
}

func drainCommand() *cobra.Command {
	var f drainFlags
	cmd := &cobra.Command{
		Use:   "drain PLAN",
		Short: "Restart or maintain peers in steps, and stop if a step hurts",
		Long: `Restart peers in batches, so that their clients do not all reconnect at once. For each
batch: take it out of service, wait until its connections have left, restart it, wait
until it answers, return it. The next batch begins only while the hosts, streams and
checks of the plan are healthy. It runs the commands that the plan names, here.

Exit codes: 0 all peers were restarted, 10 a step hurts or failed, 11 it could not be
measured whether all is healthy, 1 a signal or the journal stopped it, 2 usage.`,
		Example: `  snag drain edges.yaml --dry-run
  snag drain edges.yaml
  snag drain edges.yaml --resume      after kill -9, a reboot, or a stop`,
		Args: cli.UsageArgs(cobra.ExactArgs(1), "the file of a plan; docs/drain.md has an example"),
		RunE: func(cmd *cobra.Command, args []string) error { return drainPeers(cmd, &f, args[0]) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.dry, "dry-run", false, "print each step with its commands, and run none")
	flags.BoolVar(&f.how.Resume, "resume", false, "go on with a drain that was interrupted or stopped")
	flags.BoolVar(&f.again, "again", false, "with --resume: run the action again that is not known to have ended")
	flags.BoolVar(&f.skip, "skip", false, "with --resume: go on after the action that is not known to have ended")
	flags.BoolVar(&f.how.StartOver, "start-over", false, "begin from the first peer, although a drain of this plan was not finished")
	flags.StringVar(&f.journal, "journal", "", "the file that says how far it has come (default: PLAN.journal)")
	flags.StringVar(&f.fleet, "fleet", "", "the store of the recorders, in place of health.fleet.url of the plan (docs/fleet.md)")
	flags.StringVar(&f.fleetHeaderFile, "fleet-headers", "", "with --fleet: a file with headers for the store, one in each line")
	flags.BoolVar(&f.json, "json", false, "an object of JSON a line on standard output (docs/drain.md)")
	return cmd
}

func drainPeers(cmd *cobra.Command, f *drainFlags, path string) error {
	if err := f.check(path); err != nil {
		return err
	}
	p, sum, err := plan.ReadFile(path, func(p *plan.Plan) error { return f.change(cmd.Context(), p) })
	if err != nil {
		return &cli.Exit{Code: cli.ExitUsage, Err: err}
	}
	out := &drainOutput{out: cmd.OutOrStdout(), json: f.json, plan: path}
	if f.dry {
		for _, e := range drain.Dry(p, act.Text) {
			out.show(e)
		}
		return out.err
	}
	world, streams, err := newDrainWorld(p, out.show)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(f.journal); errors.Is(err, fs.ErrNotExist) {
		if err := drain.ProgressOf(nil).May(f.how, sum); err != nil { // it leaves no empty journal
			return cli.Usage("%v", err)
		}
	}
	j, err := journal.Open(f.journal)
	if err != nil {
		return fmt.Errorf("snag drain: %w", err)
	}
	defer func() { _ = j.Close() }()
	progress := drain.ProgressOf(j.Records)
	if err := progress.May(f.how, sum); err != nil {
		return cli.Usage("%v", err)
	}
	// A terminal that is closed, or a pipe that nobody reads any more, must not leave peers out of service.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	go func() {
		<-ctx.Done()
		stop() // the next Ctrl-C ends snag at once
	}()
	end := streams.run(context.WithoutCancel(cmd.Context()))
	defer end()
	out.begin(p, f.how.Resume)
	return drainExit(drain.New(p, j, progress, world).Run(ctx, f.how, sum))
}

func (f *drainFlags) check(path string) error {
	switch {
	case f.fleetHeaderFile != "" && f.fleet == "":
		return cli.Usage("--fleet-headers are for --fleet URL, which is missing; the plan's own are health.fleet.headers")
	case f.again && f.skip:
		return cli.Usage("--again and --skip: give one of them")
	case f.how.Resume && f.how.StartOver:
		return cli.Usage("--resume and --start-over: give one of them")
	case f.again:
		f.how.Answer = drain.Again
	case f.skip:
		f.how.Answer = drain.Skip
	}
	if f.journal == "" {
		f.journal = path + ".journal"
	}
	return nil
}

// change is what the command line says otherwise than the plan, and the peers that a discovery lists.
func (f *drainFlags) change(ctx context.Context, p *plan.Plan) (err error) {
	if f.fleet != "" {
		hosts := ""
		if p.Health.Fleet != nil {
			hosts = p.Health.Fleet.Hosts
		}
		p.Health.None, p.Health.Fleet = false, &plan.Fleet{URL: f.fleet, Hosts: hosts, Headers: f.fleetHeaderFile}
	}
	if p.PeersFrom != "" {
		p.Peers, err = f.peers(ctx, p.PeersFrom)
	}
	return err
}

// drainExit is the exit code of how a drain ended. What is wrong was shown already.
func drainExit(err error) error {
	var s *drain.Stop
	switch {
	case !errors.As(err, &s):
		return err
	case s.Why == drain.Hurts:
		return &cli.Exit{Code: cli.ExitCulprit}
	case s.Why == drain.Unknown:
		return &cli.Exit{Code: cli.ExitCantTell}
	}
	return &cli.Exit{Code: cli.ExitFailed}
}

// newDrainWorld is what a plan asks and does on this host.
func newDrainWorld(p *plan.Plan, say func(drain.Event)) (w drain.World, streams *drainStreams, err error) {
	look := &health.Looker{Checks: p.Health.Checks, Limit: p.Health.Limit.Or(plan.HealthLimit)}
	counter := act.Counter{Sockets: established}
	if p.Health.Fleet != nil {
		store, err := drainStore(*p.Health.Fleet)
		if err != nil {
			return w, nil, err
		}
		look.Store, look.Hosts, counter.Store = store, p.Health.Fleet.Hosts, store
	}
	if len(p.Health.Streams) > 0 {
		if streams, err = newDrainStreams(p.Health.Streams); err != nil {
			return w, nil, err
		}
		look.Streams = streams.now
	}
	w = drain.World{Do: act.Do, Count: counter.Count, Ready: act.Ready, Text: act.Text, Say: say, Look: look.Look}
	if p.Health.None {
		w.Look = nil
	}
	return w, streams, nil
}

func drainStore(f plan.Fleet) (hosts.Querier, error) {
	var texts []string
	if f.Headers != "" {
		texts = []string{"@" + f.Headers}
	}
	headers, err := post.Headers(texts)
	if err != nil {
		return nil, cli.Usage("the store's headers: %v", err)
	}
	store, err := prom.New(f.URL, headers)
	if err != nil {
		return nil, cli.Usage("the store: %v", err)
	}
	return store, nil
}
