package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/words"
	"snag/load"
	"snag/probes/loading"
	"snag/probes/probe"
)

// loading makes the probe that sends the requests of --load; nil where there are none. What measuring
// takes on this host is measured first.
func (f *findFlags) loading(ctx context.Context) (*probe.Probe, error) {
	if f.load == "" {
		return nil, nil
	}
	plan, err := f.loadPlan(ctx)
	if err != nil {
		return nil, err
	}
	null, err := load.Calibrate(ctx, plan)
	if err != nil {
		return nil, fmt.Errorf("--load: measure a server of our own first: %w", err)
	}
	return loading.Probe(plan, null), nil
}

// notMeanwhile are flags of snag load that make no sense while a host is recorded, and why.
var notMeanwhile = map[string]string{
	"for":     "the load lasts as long as the recording (--for of snag find)",
	"until":   "the load runs at one rate",
	"repeats": "the load runs once",
	"json":    "the report of snag find shows the load",
	"hdr":     "the recording of snag find holds the load",
	"out":     "the recording of snag find holds the load (--out of snag find)",
}

// loadPlan reads --load as snag load reads its arguments.
func (f *findFlags) loadPlan(ctx context.Context) (plan load.Plan, err error) {
	line, err := words.Split(f.load)
	if err != nil {
		return plan, cli.Usage("--load: %v", err)
	}
	flags := &loadFlags{}
	cmd := &cobra.Command{Use: "load"}
	flags.add(cmd)
	if err := cmd.ParseFlags(line); err != nil {
		return plan, cli.Usage("--load: %v", err)
	}
	args := cmd.Flags().Args()
	if len(args) != 1 {
		return plan, cli.Usage("--load %q: give one target, such as 'http://127.0.0.1:8080/ --rate 1k'", f.load)
	}
	for name, why := range notMeanwhile {
		if cmd.Flags().Changed(name) {
			return plan, cli.Usage("--load: --%s does not fit: %s", name, why)
		}
	}
	flags.window = f.window
	a, err := flags.read(ctx, cmd, args[0])
	if err != nil {
		return plan, ofLoad(err)
	}
	if a.sweeps() {
		return plan, cli.Usage("--load: one rate and one number of connections; snag load tries many")
	}
	if err := mayAsk(ctx, a, consent{yes: flags.yes}); err != nil {
		return plan, ofLoad(err)
	}
	if a.plan.Deadline == 0 {
		a.plan.Deadline = f.show.slo // its late answers are counted, not told by buckets
	}
	a.plan.Warm = 0 // the server's own count begins with the first request too
	return a.plan, nil
}

// ofLoad says of an error that it is of --load, and keeps its exit code.
func ofLoad(err error) error { return ofFlag("load", err) }

func ofFlag(name string, err error) error {
	var wrong *cli.Exit
	if errors.As(err, &wrong) && wrong.Err != nil {
		return &cli.Exit{Code: wrong.Code, Err: fmt.Errorf("--%s: %w", name, wrong.Err)}
	}
	return fmt.Errorf("--%s: %w", name, err)
}
