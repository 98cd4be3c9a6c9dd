package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"snag/compare"
	"snag/internal/cli"
	"snag/internal/shown"
	"snag/recorder"
	"snag/recording"
	"snag/report/compared"
	"snag/verdict"
)

type compareFlags struct {
	at, with, ring string
	a, b           string
	window         time.Duration
	html           string
	json           bool
}

func compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare [A B]",
		Short: "Compare two recordings, two times, two hosts or two releases: what differs by more than chance",
		Long: `Compare two recordings: A of a good time, host or release, and B of the one in question.
Both are folders or files of snag find, or files that snag read takes. --at and --with
compare two times of snag record's ring. --a and --b read the same live stream, or the
same service over HTTP, at two URLs at once: a stream as a viewer would, a service with
5 GET requests per second. That needs no root.

It compares the latency and errors of each service and where the time goes, dropped
packets and other counts, settings, and builds of programs and libraries. A change is
listed if chance does not explain it, over all figures together (docs/compare.md).

Exit codes: 0 as good, 10 worse, 11 can't tell.`,
		Example: `  snag compare before.snag after.snag
  sudo snag compare --at 14:17:28 --with 13:17:28
  snag compare --a rtmp://old/live/cam1 --b rtmp://new/live/cam1
  snag compare --a https://old.example/api --b https://new.example/api --for 1m`,
		Args: cli.UsageArgs(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error { return runCompare(cmd, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.at, "at", "", "compare this time of snag record's ring (14:17:28, 2026-11-21T14:17:28Z)")
	flags.StringVar(&f.with, "with", "", "with --at: with this earlier time of the ring")
	flags.DurationVar(&f.window, "for", 30*time.Second, "with --at: how long each time is, from 2/3 before to 1/3 after; with --a and --b: how long both are read")
	flags.StringVar(&f.a, "a", "", "compare what is at this URL, a live stream (as find --stream reads) or a service (http://, https://)")
	flags.StringVar(&f.b, "b", "", "with --a: with the same at this URL")
	flags.StringVar(&f.ring, "ring", recorder.Default, "the folder of snag record's ring")
	flags.StringVar(&f.html, "html", "", "also write one HTML page with B's verdict and its flame graph beside A to this file")
	flags.BoolVar(&f.json, "json", false, "as JSON (docs/compare.md)")
	return cmd
}

func (f *compareFlags) check(args []string) error {
	if f.json && f.html == "-" {
		return cli.Usage("--json and --html -: both go to standard output; give the page a file")
	}
	times := f.at != "" || f.with != ""
	urls := f.a != "" || f.b != ""
	switch {
	case urls && (f.a == "" || f.b == ""):
		return cli.Usage("--a and --b: two URLs are compared")
	case urls && (times || len(args) > 0):
		return cli.Usage("either --a and --b, or --at and --with, or two recordings")
	case urls:
		return folderOf("html", f.html)
	case times && (f.at == "" || f.with == ""):
		return cli.Usage("--at and --with: two times of the ring are compared")
	case times && len(args) > 0:
		return cli.Usage("%s: either recordings or --at and --with", args[0])
	case !times && len(args) != 2:
		return cli.Usage("compare needs two recordings, or --at and --with, or --a and --b")
	case f.window <= 0 || f.window > mostPast:
		return cli.Usage("--for %s: from 1s to %s", f.window, mostPast)
	}
	return folderOf("html", f.html)
}

func runCompare(cmd *cobra.Command, f compareFlags, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	to, err := newPageWriter(f.html)
	if err != nil {
		return err
	}
	defer to.close()
	if f.a != "" {
		return f.runURLs(cmd.Context(), to)
	}
	if f.at != "" {
		a, err := f.read(f.with, "with")
		if err != nil {
			return err
		}
		b, err := f.read(f.at, "at")
		if err != nil {
			return err
		}
		return f.show(a, b, f.with, f.at, to)
	}
	bound(args[0])
	s, err := ready(args...)
	if err != nil {
		return err
	}
	defer s.close()
	a, err := s.load(cmd.Context(), args[0], time.Local)
	if err != nil {
		return err
	}
	b, err := s.load(cmd.Context(), args[1], time.Local)
	if err != nil {
		return err
	}
	return f.show(a, b, args[0], args[1], to)
}

// read takes a time from the ring.
func (f *compareFlags) read(at, flag string) (*recording.Recording, error) {
	now := time.Now()
	_, offset := now.Zone()
	t, err := recording.ParseSince(at, recording.Time(now.UnixNano()), offset)
	if err != nil {
		return nil, cli.Usage("--%s: %v", flag, err)
	}
	from := t.Add(-f.window * 2 / 3)
	r, _, err := readPast(f.ring, from, from.Add(f.window))
	return r, err
}

func (f *compareFlags) show(a, b *recording.Recording, nameA, nameB string, to *pageWriter) error {
	return f.print(compare.Of(a, b), nameA, nameB, to)
}

func (f *compareFlags) print(all *compare.Comparison, nameA, nameB string, to *pageWriter) error {
	c := compared.New(all, nameA, nameB)
	var err error
	if f.json {
		err = c.WriteJSON(os.Stdout)
	} else {
		err = c.WriteText(textBeside(f.html), columns())
	}
	if err != nil {
		return err
	}
	if f.html != "" {
		c.B.Baseline = c.A
		if err := to.writeCompared(verdict.Judge(c.B), c.Page()); err != nil {
			return err
		}
		if !f.json && f.html != "-" {
			if _, err := shown.To(os.Stdout).Write([]byte(f.html + "\n")); err != nil {
				return err
			}
		}
	}
	switch c.Outcome() {
	case compare.Worse:
		return &cli.Exit{Code: cli.ExitCulprit}
	case compare.CantTell:
		return &cli.Exit{Code: cli.ExitCantTell}
	}
	return nil
}
