package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/words"
	"snag/load/trial"
	"snag/probes/loading"
	"snag/probes/probe"
)

// asking makes the probe that sends snag's own requests, of --load or of --eliminate; nil where there are none.
func (f *findFlags) asking(ctx context.Context) (*probe.Probe, error) {
	if f.tries == "" {
		return f.loading(ctx)
	}
	plan, err := f.triesPlan(ctx)
	if err != nil {
		return nil, ofFlag("eliminate", err)
	}
	return loading.Eliminating(plan), nil
}

// leastTries is how long a recording with experiments has to be: the first ones take some seconds.
const leastTries = 10 * time.Second

func (f *findFlags) checkTries(cmd *cobra.Command) error {
	switch {
	case !cmd.Flags().Changed("eliminate"):
		return nil
	case f.tries == "":
		return cli.Usage("--eliminate: give a target, such as 'http://127.0.0.1:8080/orders'")
	case f.load != "":
		return cli.Usage("--load, --eliminate: give one of them; a load would be part of what the experiments measure")
	case f.window < leastTries:
		return cli.Usage("--for %s: at least %s with --eliminate", f.window, leastTries)
	}
	return nil
}

// notTried are flags of snag eliminate that make no sense while a host is recorded, and why.
var notTried = map[string]string{
	"within": "the experiments have as long as the recording lasts (--for of snag find)",
	"json":   "the report of snag find shows the experiments",
	"out":    "the recording of snag find holds the experiments (--out of snag find)",
}

// triesPlan reads --eliminate as snag eliminate reads its arguments.
func (f *findFlags) triesPlan(ctx context.Context) (plan trial.Plan, err error) {
	line, err := words.Split(f.tries)
	if err != nil {
		return plan, cli.Usage("%v", err)
	}
	flags, cmd := &eliminateFlags{}, &cobra.Command{Use: "eliminate"}
	flags.register(cmd)
	if err := cmd.ParseFlags(line); err != nil {
		return plan, cli.Usage("%v", err)
	}
	args := cmd.Flags().Args()
	if len(args) != 1 {
		return plan, cli.Usage("%q: give one target, such as 'http://127.0.0.1:8080/orders --all'", f.tries)
	}
	for name, why := range notTried {
		if cmd.Flags().Changed(name) {
			return plan, cli.Usage("--%s does not fit: %s", name, why)
		}
	}
	if flags.server == "-" {
		return plan, cli.Usage("--server -: give a file")
	}
	flags.within = f.window
	plan, err = flags.plan(ctx, cmd, args[0])
	plan.Beside = true
	return plan, err
}
