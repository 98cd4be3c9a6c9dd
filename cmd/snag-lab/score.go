package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/all"
	"snag/lab/baseline"
	"snag/lab/score"
	"snag/recording"
	"snag/report"
	"snag/suspects"
	"snag/verdict"
)

type scoreFlags struct {
	run      lab.RunOptions
	dir      string
	from     string
	pick     choice
	levels   []string
	noPairs  bool
	short    bool
	sample   int
	seed     uint64
	repeat   int
	retry    int
	flaky    int // runs that were not right, and then were
	budget   time.Duration
	json     string
	markdown string
	written  string
}

// scoreCommand makes `snag-lab score`.
func scoreCommand() *cobra.Command {
	var f scoreFlags
	c := &cobra.Command{
		Use:   "score",
		Short: "Score snag on every incident, and beside it the alarms that people use",
		Long: `Makes every incident at three levels, with its healthy twin and its distractor, and
pairs of two at the same time; keeps each recording, packed, in --dir; and prints
how often the right suspect was first (AC@1) and among the first three (AC@3), how
often the right subject was named, who was accused falsely, who was not accused,
and whether the confidence means what it says. Two sets of plain alarms judge the
same recordings: docs/score.md.

What --dir has already is not made again: the same command goes on where an
earlier one stopped. --from judges kept recordings only, and needs no root.`,
		Example: `  sudo snag-lab score --dir /var/tmp/score --budget 25m --markdown docs/score.md
  snag-lab score --from /var/tmp/score
  snag-lab score --from lab/recordings --levels plain --no-pairs`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return runScore(c, f) },
	}
	c.Flags().StringVar(&f.dir, "dir", "", "make what is missing and keep it in this folder")
	c.Flags().StringVar(&f.from, "from", "", "make nothing: judge the recordings in this folder")
	c.Flags().StringSliceVar(&f.pick.only, "only", nil, "only these incidents, and pairs of them")
	c.Flags().BoolVar(&f.pick.vm, "vm", false, "also those that need a separate machine (see make lab-vm)")
	c.Flags().StringSliceVar(&f.levels, "levels", []string{"barely", "plain", "severe"}, "only these levels")
	c.Flags().BoolVar(&f.noPairs, "no-pairs", false, "no two incidents at the same time")
	c.Flags().BoolVar(&f.short, "short", false, "one level, no pairs, no long incidents; an error if anything is not right")
	c.Flags().IntVar(&f.sample, "sample", -1, "with --short: one incident of each family in its sick variant, and this many of all other runs, the long ones too, drawn by --seed; -1 runs every short one")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "draws the sample; 0 is a fresh one, which is printed")
	c.Flags().IntVar(&f.repeat, "repeat", 1, "rounds of all")
	c.Flags().IntVar(&f.retry, "retry", 0, "make a run that did not come out right again, this often, and count the last; the first tries are kept as KEY.try1 and so on")
	c.Flags().DurationVar(&f.budget, "budget", 0, "begin no run that would end later than this; 0 is not a limit")
	c.Flags().StringVar(&f.json, "json", "", "write the score to this file as JSON")
	c.Flags().StringVar(&f.markdown, "markdown", "", "write the tables into this file, between its lines <!-- score --> and <!-- /score -->")
	c.Flags().StringVar(&f.written, "written", "suspects/testdata", "where the written cases are, of causes that can't be made here")
	findFlags(c, &f.run)
	return c
}

func (f *scoreFlags) plan(progress io.Writer) ([]score.Case, error) {
	if (f.dir == "") == (f.from == "") {
		return nil, cli.Usage("give --dir DIR, to make what is missing there, or --from DIR, to judge what is there")
	}
	if f.repeat < 1 {
		return nil, cli.Usage("--repeat %d: at least 1", f.repeat)
	}
	if f.sample >= 0 && !f.short {
		return nil, cli.Usage("--sample %d: only a short score takes one: add --short", f.sample)
	}
	f.pick.long = !f.short || f.sample >= 0
	incidents, err := f.pick.of(all.Incidents)
	if err != nil {
		return nil, err
	}
	if f.sample >= 0 {
		if f.seed == 0 {
			f.seed = uint64(time.Now().UnixNano())
		}
		fmt.Fprintf(progress, "the sample is drawn by seed %d: --seed %d draws it again\n", f.seed, f.seed)
		return score.Repeat(score.Sample(incidents, f.sample, f.seed), f.repeat), nil
	}
	var levels []lab.Level
	for _, l := range f.levels {
		if l != string(lab.Barely) && l != string(lab.Plain) && l != string(lab.Severe) {
			return nil, cli.Usage("--levels %s: barely, plain or severe", l)
		}
		levels = append(levels, lab.Level(l))
	}
	pairs := all.Pairs
	if f.short {
		levels = []lab.Level{lab.Plain}
	}
	if f.short || f.noPairs {
		pairs = nil
	}
	return score.Repeat(score.Plan(incidents, pairsOf(pairs, incidents), levels), f.repeat), nil
}

// pairsOf are the pairs of which every incident was chosen.
func pairsOf(pairs [][]lab.Incident, incidents []lab.Incident) [][]lab.Incident {
	var out [][]lab.Incident
next:
	for _, p := range pairs {
		for _, i := range p {
			if _, err := lab.Find(incidents, i.Name); err != nil {
				continue next
			}
		}
		out = append(out, p)
	}
	return out
}

func runScore(c *cobra.Command, f scoreFlags) error {
	cases, err := f.plan(c.ErrOrStderr())
	if err != nil {
		return err
	}
	if f.dir != "" {
		if f.run.SnagPath, err = snagPath(f.run.SnagPath); err != nil {
			return err
		}
	}
	ctx, stop := untilSignal(c.Context())
	defer stop()
	folder := score.Folder(f.from)
	var made error
	if f.dir != "" {
		folder = score.Folder(f.dir)
		f.flaky, made = makeRuns(ctx, c.ErrOrStderr(), folder, cases, f)
	}
	r, err := scoreReport(folder, cases, f)
	if err != nil {
		return errors.Join(made, err)
	}
	if err := writeScore(c.OutOrStdout(), r, f); err != nil {
		return errors.Join(made, err)
	}
	return errors.Join(made, f.passed(c.OutOrStdout(), r.Sheets[0]))
}

// judges are snag, first, and what it is compared with.
var judges = []score.Judge{
	{Name: "snag", Confident: true, Answer: snagAnswer},
	{Name: "thresholds", Answer: baseline.Thresholds},
	{Name: "Netdata", Answer: baseline.Netdata},
}

// snagAnswer is what snag judge --json says, as the lab reads it.
func snagAnswer(r *recording.Recording) (lab.Answer, error) {
	var doc bytes.Buffer
	if err := report.WriteJSON(&doc, verdict.Judge(r)); err != nil {
		return lab.Answer{}, err
	}
	return lab.ParseAnswer(doc.Bytes())
}

func thisMachine() score.Machine {
	var u unix.Utsname
	_ = unix.Uname(&u) // an empty release says as much as an error would
	return score.Machine{Kernel: unix.ByteSliceToString(u.Release[:]), CPUs: runtime.NumCPU()}
}

func scoreReport(folder score.Folder, cases []score.Case, f scoreFlags) (score.Report, error) {
	r := score.Report{Date: time.Now(), Machine: thisMachine(), Snag: cli.Version, Command: "snag-lab " + strings.Join(os.Args[1:], " ")}
	var err error
	if r.Sheets, r.Missing, err = score.Evaluate(folder, cases, judges); err != nil {
		return r, err
	}
	if len(r.Sheets[0].Marks) == 0 {
		return r, fmt.Errorf("score: %s has no recording of these cases: snag-lab score --dir %s makes them", folder, folder)
	}
	// The machine and the day of the runs, not of the judging.
	var last time.Time
	for _, c := range cases {
		if k, err := folder.Note(c.Key()); err == nil && k.Made.After(last) {
			r.Machine, r.Date, last = k.Machine, k.Made, k.Made
		}
	}
	if f.short || len(f.pick.only) > 0 {
		return r, nil
	}
	for _, s := range suspects.All {
		if !s.Fixture {
			continue
		}
		w, err := score.JudgeWritten(f.written, s.Name, snagAnswer)
		if err != nil {
			return r, err
		}
		if w.Guilty > 0 {
			r.Written = append(r.Written, w)
		}
	}
	return r, nil
}

func writeScore(w io.Writer, r score.Report, f scoreFlags) error {
	var text strings.Builder
	if err := r.Markdown(io.MultiWriter(w, &text)); err != nil {
		return err
	}
	if f.markdown != "" {
		if err := score.Insert(f.markdown, "score", text.String()); err != nil {
			return err
		}
	}
	if f.json == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.json, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the score: %w", err)
	}
	return nil
}

// flakyRuns is how many runs of a short score may come out right in the second try
// only. A verdict that depends on luck often shows as a third one, while the machine's
// noise seldom meets three runs of some forty.
const flakyRuns = 2

// passed reports whether the goals are met; of a short score, whether all is right.
func (f *scoreFlags) passed(w io.Writer, snag score.Sheet) error {
	if !f.short {
		if unmet := snag.Unmet(); len(unmet) > 0 {
			return fmt.Errorf("score: goals not met: %s", strings.Join(unmet, "; "))
		}
		return nil
	}
	right := 0
	for _, m := range snag.Marks {
		if m.Outcome == lab.Right {
			right++
		}
	}
	fmt.Fprintf(w, "%d of %d runs were right, %d flaky", right, len(snag.Marks), f.flaky)
	if f.flaky > 0 {
		fmt.Fprintf(w, " (wrong once, then right; the first tries are kept as %s/*.try*)", f.dir)
	}
	fmt.Fprintln(w)
	if wrong := len(snag.Marks) - right; wrong > 0 {
		return fmt.Errorf("score: %d of %d runs were not right", wrong, len(snag.Marks))
	}
	if f.flaky > flakyRuns {
		return fmt.Errorf("score: %d runs were right in the second try only, and a short score may have %d", f.flaky, flakyRuns)
	}
	return nil
}
