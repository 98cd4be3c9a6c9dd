package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/all"
	"snag/lab/drawn"
	"snag/lab/score"
)

type drawnScore struct {
	run            lab.RunOptions
	seed           uint64
	draws          int
	families       []string
	dir            string
	part           string
	budget         time.Duration
	judgeOnly      bool
	baselines      bool
	healthy        bool
	ongoing        bool
	again          bool
	final          bool
	finalLog       string
	markdown, json string
}

// drawnScoreCommand makes `snag-lab drawn score`.
func drawnScoreCommand() *cobra.Command {
	var s drawnScore
	c := &cobra.Command{
		Use:   "score",
		Short: "Make draws, keep their recordings, and score snag beside two sets of plain alarms",
		Long: `Makes the draws of the seeds SEED, SEED+2, and so on, that the folder does not have yet, judges
all of them and prints the score. It may be stopped and goes on where it was. --judge-only
judges kept recordings again.

Even seeds are to develop on. Of odd seeds only how many runs there are is shown, unless --final is
given; each such use is noted in --final-log, which is committed.`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return s.command(c) },
	}
	f := c.Flags()
	f.Uint64Var(&s.seed, "seed", 2, "the first seed")
	f.IntVar(&s.draws, "draws", 30, "draws, each of its own seed")
	f.StringSliceVar(&s.families, "families", nil, "only these families")
	f.StringVar(&s.dir, "dir", "", "the folder of the recordings")
	f.StringVar(&s.part, "part", "", "K/N: only the K-th of N parts, for N machines")
	f.DurationVar(&s.budget, "budget", 0, "begin no run that would end after this")
	f.BoolVar(&s.judgeOnly, "judge-only", false, "make nothing: judge what the folder has")
	f.BoolVar(&s.baselines, "baselines", false, "compare each faulty run with the healthy one of its draw, and each noisy one with the quiet one, as snag judge --baseline does")
	f.BoolVar(&s.healthy, "healthy", false, "only the healthy runs: what two folders of them differ by is noise (snag-lab drawn noise)")
	f.BoolVar(&s.ongoing, "ongoing", false, "only draws whose fault is still on when the window ends: those that --remedies measures")
	f.BoolVar(&s.again, "again", false, "make the runs that gave no recording once more")
	f.BoolVar(&s.final, "final", false, "show the score of odd seeds")
	f.StringVar(&s.finalLog, "final-log", "docs/score-final.log", "where uses of --final are noted")
	f.StringVar(&s.markdown, "markdown", "", "write the tables into this file, between its lines <!-- drawn --> and <!-- /drawn -->")
	f.StringVar(&s.json, "json", "", "write all marks to this file")
	drawnFindFlags(c, &s.run)
	return c
}

func (s *drawnScore) command(c *cobra.Command) error {
	if s.dir == "" {
		return cli.Usage("give --dir DIR, where the recordings are kept")
	}
	if s.draws < 1 {
		return cli.Usage("--draws %d: at least 1", s.draws)
	}
	cases, err := s.cases()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(c.Context())
	defer stop()
	if !s.judgeOnly {
		if err := s.make(ctx, c.OutOrStdout(), cases); err != nil {
			return err
		}
	}
	return s.report(c.OutOrStdout(), cases)
}

// cases are those of this machine's part.
func (s *drawnScore) cases() ([]drawn.Case, error) {
	families := all.Families
	if len(s.families) > 0 {
		families = nil
		for _, name := range s.families {
			f, err := drawn.Find(all.Families, name)
			if err != nil {
				return nil, cli.Usage("%v", err)
			}
			families = append(families, f)
		}
	}
	cases := drawn.Plan(families, s.seed, s.draws)
	if s.healthy {
		cases = slices.DeleteFunc(cases, func(c drawn.Case) bool { return c.Faulty || c.Quiet })
	}
	if s.ongoing {
		cases = slices.DeleteFunc(cases, func(c drawn.Case) bool { return !c.Ongoing() })
	}
	if s.part == "" {
		return cases, nil
	}
	var k, n int
	if _, err := fmt.Sscanf(s.part, "%d/%d", &k, &n); err != nil || k < 1 || k > n {
		return nil, cli.Usage("--part %s: want K/N, K from 1 to N", s.part)
	}
	return drawn.ShareOf(cases, k-1, n), nil
}

func (s *drawnScore) make(ctx context.Context, w io.Writer, cases []drawn.Case) error {
	var err error
	if s.run.SnagPath, err = snagPath(s.run.SnagPath); err != nil {
		return err
	}
	runs := drawn.Runs{Folder: drawn.Folder(s.dir), Options: s.run, Machine: thisMachine(), Commit: cli.Version, Budget: s.budget, Progress: w, Again: s.again}
	left, err := runs.All(ctx, cases)
	if left > 0 {
		fmt.Fprintf(w, "%d runs of %d are left: the same command goes on with them\n", left, len(cases))
	}
	return err
}

// report judges the runs of the plan and prints the score, of odd seeds only with --final.
func (s *drawnScore) report(w io.Writer, cases []drawn.Case) error {
	folder := drawn.Folder(s.dir)
	planned := map[string]bool{}
	made := 0
	for _, c := range cases {
		planned[c.Key()] = true
		if folder.Has(c.Key(), true) {
			made++
		}
	}
	if made == 0 {
		return fmt.Errorf("%s has no run of these draws", folder)
	}
	held := s.seed%2 == 1
	if held && !s.final {
		fmt.Fprintf(w, "%d of %d runs of odd seeds are there. Their score is held back: --final shows it, and is noted in %s\n", made, len(cases), s.finalLog)
		return nil
	}
	marks, err := drawn.Judging{Folder: folder, Judges: judges, Keep: func(k drawn.Kept) bool { return planned[k.Key] }, Baselines: s.baselines}.Marks()
	if err != nil {
		return err
	}
	r := drawn.Report{Judged: cli.Version, Command: "snag-lab " + strings.Join(os.Args[1:], " "),
		Seeds: fmt.Sprintf("%d draws of the seeds %d, %d and so on, %d of %d runs", s.draws, s.seed, s.seed+2, made, len(cases))}
	for i, j := range judges {
		r.Judges = append(r.Judges, drawn.Judged{Name: j.Name, Marks: marks[i]})
	}
	for _, c := range cases {
		if k, err := folder.Note(c.Key()); err == nil && k.Made.After(r.Date) {
			r.Date, r.Machine, r.Commit = k.Made, k.Machine, k.Commit
		}
	}
	if held {
		if err := s.noteFinal(made, len(cases)); err != nil {
			return err
		}
	}
	return s.write(w, r)
}

func (s *drawnScore) noteFinal(made, of int) error {
	f, err := os.OpenFile(s.finalLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("note the use of --final: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s\t%s\tseed %d, %d draws, %d of %d runs\tfamilies %s\n", time.Now().UTC().Format("2006-01-02 15:04"), cli.Version, s.seed, s.draws, made, of, strings.Join(append([]string{}, s.families...), ","))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func (s *drawnScore) write(w io.Writer, r drawn.Report) error {
	var text strings.Builder
	if err := r.Markdown(io.MultiWriter(w, &text), true); err != nil {
		return err
	}
	if s.markdown != "" {
		if err := score.Insert(s.markdown, "drawn", text.String()); err != nil {
			return err
		}
	}
	if s.json == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.json, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the score: %w", err)
	}
	return nil
}
