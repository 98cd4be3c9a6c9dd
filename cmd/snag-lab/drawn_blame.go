package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/all"
	"snag/lab/drawn"
)

// blamed are the faults of streams that are drawn where none is named.
var blamed = []string{
	"encoder-stall/stopped", "encoder-stall/slow", "server-stall/worker-stopped", "server-stall-hls/packager-stopped", "server-stall-jvm/pauses",
	"uplink-throttled/own-shaper", "uplink-throttled/on-the-way", "uplink-blackhole/dead", "uplink-blackhole/lossy", "encoder-stall-hls/stopped",
	"publisher-ended/killed", "publisher-ended/asked-to-end", "publisher-ended/reset", "publisher-ended/firewall",
}

type drawnBlame struct {
	run       lab.RunOptions
	seed      uint64
	draws     int
	faults    []string
	dir, json string
	budget    time.Duration
	judgeOnly bool
	again     bool
}

// drawnBlameCommand makes `snag-lab drawn blame`.
func drawnBlameCommand() *cobra.Command {
	var s drawnBlame
	c := &cobra.Command{
		Use:   "blame",
		Short: "Faults of streams in random sizes: whom snag find and snag watch --host name, and what a viewer alone says",
		Long: `Makes faulty draws of streams, each fault in turn. Beside snag find --stream run snag watch --host
and snag watch as a viewer that sees nothing else, on the same stream. Prints how often each
was right, named nobody, or was wrong. It may be stopped and goes on where it was; --judge-only
judges kept recordings again (what snag watch said stays as it was).`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return s.command(c) },
	}
	f := c.Flags()
	f.Uint64Var(&s.seed, "seed", 2, "the first seed")
	f.IntVar(&s.draws, "draws", len(blamed), "draws, each of its own seed")
	f.StringSliceVar(&s.faults, "faults", blamed, "FAMILY/FAULT, each in turn")
	f.StringVar(&s.dir, "dir", "", "the folder of the recordings")
	f.DurationVar(&s.budget, "budget", 0, "begin no run that would end after this")
	f.BoolVar(&s.judgeOnly, "judge-only", false, "make nothing: judge what the folder has")
	f.BoolVar(&s.again, "again", false, "make the runs that gave no recording once more")
	f.StringVar(&s.json, "json", "", "write what was said of each run to this file")
	f.DurationVar(&s.run.For, "for", 12*time.Second, "how long snag find records; snag watch goes on for 20 s more")
	f.BoolVar(&s.run.IgnoreElsewhere, "ignore-elsewhere", false, "leave out what is found in network namespaces of others, where others make incidents on this machine")
	f.StringVar(&s.run.SnagPath, "snag", "", "the snag binary that is judged (default: the one beside this program, else in PATH)")
	return c
}

func (s *drawnBlame) command(c *cobra.Command) error {
	if s.dir == "" || s.draws < 1 || len(s.faults) == 0 {
		return cli.Usage("give --dir DIR, where the recordings are kept, at least one draw and at least one fault")
	}
	faults, err := faultsNamed(s.faults)
	if err != nil {
		return err
	}
	cases := drawn.BlamePlan(faults, s.seed, s.draws)
	folder := drawn.Folder(s.dir)
	ctx, stop := untilSignal(c.Context())
	defer stop()
	w := c.OutOrStdout()
	if !s.judgeOnly {
		if s.run.SnagPath, err = snagPath(s.run.SnagPath); err != nil {
			return err
		}
		runs := drawn.Runs{Folder: folder, Options: s.run, Machine: thisMachine(), Commit: cli.Version, Budget: s.budget, Progress: w, Again: s.again, Watches: true}
		if left, err := runs.All(ctx, cases); err != nil {
			return err
		} else if left > 0 {
			fmt.Fprintf(w, "%d runs of %d are left: the same command goes on with them\n", left, len(cases))
		}
	}
	return s.report(w, folder, cases)
}

func (s *drawnBlame) report(w io.Writer, folder drawn.Folder, cases []drawn.Case) error {
	blames, broken, err := drawn.Blames(folder, judges[0], cases)
	if err != nil {
		return err
	}
	if len(blames) == 0 {
		return fmt.Errorf("%s has no run of these draws with a recording", folder)
	}
	if s.json != "" {
		raw, err := json.MarshalIndent(blames, "", " ")
		if err == nil {
			err = os.WriteFile(s.json, append(raw, '\n'), 0o644)
		}
		if err != nil {
			return fmt.Errorf("write what was said: %w", err)
		}
	}
	return drawn.WriteBlames(w, blames, broken)
}

// faultsNamed are cases of FAMILY/FAULT, without seeds.
func faultsNamed(names []string) (out []drawn.Case, err error) {
	for _, name := range names {
		family, fault, _ := strings.Cut(name, "/")
		f, err := drawn.Find(all.Families, family)
		if err == nil {
			_, err = f.FaultNamed(fault)
		}
		if err != nil {
			return nil, cli.Usage("--faults %s: %v", name, err)
		}
		out = append(out, drawn.Case{Families: []drawn.Family{f}, Fault: fault})
	}
	return out, nil
}
