package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab/fleet"
)

type fleetFlags struct {
	snag, thanos, dir, kill string
	incidents               string
	only                    []string
	seed                    uint64
	healthy, broken         time.Duration
}

// fleetCommand makes `snag-lab fleet`.
func fleetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Twelve hosts in network namespaces, incidents that are noticed at another host than their cause's",
		Args:  cli.UsageArgs(cobra.NoArgs),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(fleetScoreCommand())
	return c
}

func fleetScoreCommand() *cobra.Command {
	var f fleetFlags
	c := &cobra.Command{
		Use:   "score",
		Short: "Make each incident in a fleet of its own and count how often snag find --fleet names the right host and subject",
		Long: `Makes twelve hosts (three origins, six edges, an encoder, players, a load balancer), a snag record at
each, and a store of two Thanos receivers and a querier. Asks snag find --fleet while nothing is
broken, breaks something, and asks again. About three minutes for each incident; needs root.`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return scoreFleet(c, f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.snag, "snag", "", "the snag binary that is judged (default: the one beside this program, else in PATH)")
	flags.StringVar(&f.thanos, "thanos", defaultThanos(), "the thanos binary, as tools/setup.sh fleet builds it")
	flags.StringVar(&f.dir, "dir", "", "keep what was said in this folder; an incident that is there is not made again")
	flags.StringVar(&f.incidents, "incidents", "all", "all, or so many from the first on")
	flags.StringSliceVar(&f.only, "only", nil, "only these incidents")
	flags.StringVar(&f.kill, "kill", "process-stopped", "kill one receiver in the middle of this incident; \"\": of none")
	flags.Uint64Var(&f.seed, "seed", 2, "sizes are drawn from it; even ones are to develop on")
	flags.DurationVar(&f.healthy, "healthy", 45*time.Second, "how long nothing is broken before the fleet is asked; a recorder knows what is usual after 30 s with answers")
	flags.DurationVar(&f.broken, "broken", 75*time.Second, "how long something is broken before it is asked again")
	return c
}

func defaultThanos() string {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, _ := os.UserHomeDir() // "": it is not found then, and the error names the flag
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "snag", "fleet", "thanos")
}

func (f fleetFlags) chosen() ([]fleet.Incident, error) {
	var names []string
	for _, i := range fleet.Incidents {
		names = append(names, i.Name)
	}
	for _, n := range append(slices.Clone(f.only), f.kill) {
		if n != "" && !slices.Contains(names, n) {
			return nil, cli.Usage("no incident named %q: %s", n, strings.Join(names, ", "))
		}
	}
	most := len(names)
	if f.incidents != "all" {
		if _, err := fmt.Sscan(f.incidents, &most); err != nil || most < 1 || most > len(names) {
			return nil, cli.Usage("--incidents %s: all, or 1 to %d", f.incidents, len(names))
		}
	}
	var out []fleet.Incident
	for _, i := range fleet.Incidents[:most] {
		if len(f.only) == 0 || slices.Contains(f.only, i.Name) {
			out = append(out, i)
		}
	}
	return out, nil
}

func scoreFleet(c *cobra.Command, f fleetFlags) error {
	all, err := f.chosen()
	if err != nil {
		return err
	}
	if f.snag, err = snagPath(f.snag); err != nil {
		return err
	}
	if f.thanos, err = exec.LookPath(f.thanos); err != nil {
		return cli.Usage("--thanos: %v: tools/setup.sh fleet builds it", err)
	}
	if f.dir != "" {
		if err := os.MkdirAll(f.dir, 0o755); err != nil {
			return err
		}
	}
	ctx, stop := untilSignal(c.Context())
	defer stop()
	var outcomes []fleet.Outcome
	failed := 0
	for _, i := range all {
		out, kept := fleet.Kept(f.dir, i.Name, f.seed)
		if !kept {
			out, err = fleet.Run(ctx, i, fleet.Options{Snag: f.snag, Thanos: f.thanos, Dir: f.dir, Seed: f.seed, Healthy: f.healthy, Broken: f.broken, Kill: f.kill == i.Name,
				Log: func(format string, args ...any) { fmt.Fprintf(c.ErrOrStderr(), format+"\n", args...) }})
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed++
			fmt.Fprintf(c.ErrOrStderr(), "%s: %v\n", i.Name, err)
			err = nil
			continue
		}
		outcomes = append(outcomes, out)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s\n%s\n", fleet.Table(outcomes), fleet.SumOf(outcomes))
	if failed > 0 {
		return fmt.Errorf("%d incidents could not be made", failed)
	}
	return nil
}
