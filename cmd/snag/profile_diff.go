package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/shown"
	"snag/report/profile"
	"snag/verdict"
)

type diffFlags struct {
	event string
	comm  string
	html  string
	lines int
	all   bool
}

func profileDiffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two profiles by the share of each function, and say which changes are more than chance",
		Long: `Compare two profiles, A of the good time or host and B of the bad one: recordings, or
files that snag read takes (perf script, perf.data, folded stacks, pprof, speedscope).

Each function's share of all samples is compared, its own and that with what it
calls. The interval of each change holds for all functions at once: what is listed
changed by more than chance does, also where work comes in bursts. --html writes the
page of B, its flame graph beside A: red takes more, blue less, grey is chance.`,
		Example: `  snag profile diff good.perf.txt bad.perf.txt
  snag profile diff --process relay --html diff.html GOOD BAD`,
		Args: cli.UsageArgs(cobra.ExactArgs(2), "a folder of snag profile --out, or a packed recording"),
		RunE: func(cmd *cobra.Command, args []string) error { return runDiff(cmd, f, args[0], args[1]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.event, "event", "", "compare by this event, as page-faults (default: time, or what was sampled most)")
	flags.StringVar(&f.comm, "process", "", "compare only processes of this name")
	flags.StringVar(&f.html, "html", "", "also write one HTML page with B's flame graph beside A to this file")
	flags.IntVar(&f.lines, "top", 20, "how many functions to print in each table")
	flags.BoolVar(&f.all, "all", false, "also functions that changed no more than chance does")
	return cmd
}

func runDiff(cmd *cobra.Command, f diffFlags, nameA, nameB string) error {
	if f.lines < 1 || f.lines > 1000 {
		return cli.Usage("--top %d: from 1 to 1000", f.lines)
	}
	if err := folderOf("html", f.html); err != nil {
		return err
	}
	to, err := newPageWriter(f.html)
	if err != nil {
		return err
	}
	defer to.close()
	bound(nameA)
	s, err := ready(nameA, nameB)
	if err != nil {
		return err
	}
	defer s.close()
	a, err := s.load(cmd.Context(), nameA, time.Local)
	if err != nil {
		return err
	}
	b, err := s.load(cmd.Context(), nameB, time.Local)
	if err != nil {
		return err
	}
	d, err := profile.Compare(a, b, f.event, f.comm)
	if err != nil {
		return err
	}
	o := profile.DiffOptions{TextOptions: profile.TextOptions{Most: f.lines, Width: columns()}, All: f.all, NameA: nameA, NameB: nameB}
	if err := d.WriteText(textBeside(f.html), o); err != nil {
		return fmt.Errorf("print the comparison: %w", err)
	}
	if f.html == "" {
		return nil
	}
	b.Baseline = a
	if err := to.write(verdict.Judge(b)); err != nil {
		return err
	}
	if f.html == "-" {
		return nil
	}
	fmt.Fprintln(shown.To(os.Stdout), f.html)
	return nil
}
