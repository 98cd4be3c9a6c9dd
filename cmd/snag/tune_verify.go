package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/shown"
	"snag/internal/units"
	"snag/recording"
	"snag/remedies/apply"
	"snag/remedies/plan"
	"snag/remedies/verify"
	"snag/remedies/verify/episode"
	"snag/verdict"
)

// verifyFlags say how the outcome is measured.
type verifyFlags struct {
	window time.Duration
	settle time.Duration
	load   string
	out    string
	auto   bool
	json   bool
	quiet  bool
}

func (v *verifyFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&v.window, "for", 0, "how long to measure (default: as long as the recording that the plan was made from, and up to 5m if it takes that long to decide)")
	flags.DurationVar(&v.settle, "settle", 2*time.Second, "wait this long before, for what is under way from the time of the old values")
	flags.StringVar(&v.load, "load", "", "run this command meanwhile; its words are split by their quotes, no shell sees it")
	flags.StringVarP(&v.out, "out", "o", "", "keep the recording in this folder (default: beside the plan's journal)")
	flags.BoolVar(&v.json, "json", false, "the outcome as JSON on standard output")
	flags.BoolVarP(&v.quiet, "quiet", "q", false, "no progress, only the outcome")
}

func (v *verifyFlags) check() error {
	if v.window != 0 && (v.window < 5*time.Second || v.window > time.Hour) {
		return cli.Usage("--for %s: from 5s to 1h", v.window)
	}
	if v.settle < 0 || v.settle > 10*time.Minute {
		return cli.Usage("--settle %s: up to 10m", v.settle)
	}
	return nil
}

// longestUnasked is how long verify measures at most if it was not asked to: what takes
// longer is said.
const longestUnasked = 5 * time.Minute

// length is how long to measure: as asked for, else as the plan says, else as long as
// before; and as long as trouble that came like this takes, where that is not too long.
func (v *verifyFlags) length(p *plan.Plan, before time.Duration, need float64) time.Duration {
	if v.window != 0 {
		return v.window
	}
	if d, err := time.ParseDuration(p.Verify.For); err == nil {
		before = d
	}
	// 2 s more: the last seconds of a recording may not be whole.
	if d := time.Duration(episode.Round(need+2)) * time.Second; d <= longestUnasked {
		before = max(before, d)
	}
	return min(max(before.Round(time.Second), 5*time.Second), time.Hour)
}

func tuneVerify(f *tuneFlags) *cobra.Command {
	var v verifyFlags
	cmd := &cobra.Command{
		Use:   "verify [ID]",
		Short: "Measure whether the last plan helped: the symptom before and after",
		Long: `Records the host as snag find does, and compares the symptom with that of the recording
that the plan was made from: how much of it there is, its interval of 95 %, and the load
beside it. Less of it at less load proves nothing, and is not called a success. The
outcome goes into the plan's journal.

Trouble that comes in episodes is gone only when a time is quiet in which it would have
come again. Without --for, verify measures for as long as that takes, up to 5 minutes;
where it takes longer, or --for is shorter, the outcome is "too early", with the time
that would tell.

Exit codes: 0 gone or reduced, 10 unchanged or worse, 11 too early or can't tell (it
says why), 1 failed, 2 usage.`,
		Example: `  sudo snag tune apply plan.yaml && sudo snag tune verify    then, from a new session: sudo snag tune confirm
  sudo snag tune verify --for 30s --load 'wrk -d 40 http://10.0.0.2/'`,
		Args: cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := v.check(); err != nil {
				return err
			}
			s, err := f.real()
			if err != nil {
				return err
			}
			return verifyAndAct(cmd, s, strings.Join(args, ""), &v)
		},
	}
	v.register(cmd)
	cmd.Flags().BoolVar(&v.auto, "auto", false, "undo the plan if it made things worse")
	return cmd
}

func verifyAndAct(cmd *cobra.Command, s *apply.Store, id string, v *verifyFlags) error {
	o, err := measureOutcome(cmd.Context(), s, id, v)
	if err != nil {
		return err
	}
	if v.auto && o.Outcome == verify.Worse {
		if _, err := s.Undo(o.ID, "verify: worse"); err != nil {
			return errors.Join(o.write(cmd.OutOrStdout(), v.json), err)
		}
		o.Did = "undone: it made things worse"
	}
	if err := o.write(cmd.OutOrStdout(), v.json); err != nil {
		return err
	}
	return o.exit()
}

// outcome is what verify prints.
type outcome struct {
	ID string `json:"id"`
	verify.Result
	Recording string `json:"recording"`
	Baseline  string `json:"before_recording"`
	// Did is what was done about it; "" nothing.
	Did string `json:"did,omitempty"`
}

// exit is the code of verify: that it is still there has the one of a culprit found.
func (o *outcome) exit() error {
	switch {
	case o.Outcome.Helped():
		return nil
	case o.Outcome.Open():
		return &cli.Exit{Code: cli.ExitCantTell}
	}
	return &cli.Exit{Code: cli.ExitCulprit}
}

// measureOutcome records the host, compares, and notes the outcome in the journal.
func measureOutcome(ctx context.Context, s *apply.Store, id string, v *verifyFlags) (*outcome, error) {
	e, err := s.Verifiable(id)
	if err != nil {
		return nil, err
	}
	p := e.Plan
	base, err := baselineOf(p)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", e.ID, err)
	}
	o := &outcome{ID: e.ID, Baseline: p.For.Recording, Recording: v.out}
	if o.Recording == "" {
		o.Recording = filepath.Join(e.Dir, "verify-"+time.Now().UTC().Format("20060102-150405"))
	}
	if whole, err := filepath.Abs(o.Recording); err == nil {
		o.Recording = whole // status names it from anywhere
	}
	note, err := recordAgain(ctx, p, base, o.Recording, v)
	if err != nil {
		return nil, err
	}
	now, err := recording.OpenOwn(o.Recording)
	if err != nil {
		return nil, err
	}
	o.Result = verify.Compare(base.before, verdict.Judge(now), base.culprit, p.Verify.Symptom)
	if note != "" {
		o.Notes = append(o.Notes, note)
		if o.Outcome.Helped() {
			o.Outcome, o.Why = verify.CantTell, note
		}
	}
	_, err = s.Verify(e.ID, apply.Verified{Outcome: string(o.Outcome), Text: o.line(), Dir: o.Recording})
	return o, err
}

// baseline is what an outcome is compared with.
type baseline struct {
	before  *verdict.Verdict
	culprit verdict.Entry
	rhythm  verify.Rhythm
}

// baselineOf judges the recording that a plan was made from.
func baselineOf(p *plan.Plan) (*baseline, error) {
	if p.For.Suspect == "" || p.For.Recording == "" {
		return nil, errors.New("it was not made from a recording: there is nothing to compare with; snag tune plan DIR makes one that was")
	}
	old, err := recording.Open(p.For.Recording)
	if err != nil {
		return nil, fmt.Errorf("the recording that it was made from: %w", err)
	}
	b := &baseline{before: verdict.Judge(old)}
	var ok bool
	if b.culprit, ok = verify.Pick(b.before, p.For.Suspect, p.For.Subject); !ok {
		return nil, fmt.Errorf("%s names no culprit %s (by this version's rules): there is nothing to compare with", p.For.Recording, p.For.Suspect)
	}
	b.rhythm = verify.RhythmOf(b.before, b.culprit, p.Verify.Symptom)
	return b, nil
}

// recordAgain records the host as the recording before was made, under the load. The
// note is of a load that ended before its time.
func recordAgain(ctx context.Context, p *plan.Plan, base *baseline, dir string, v *verifyFlags) (note string, err error) {
	old := base.before.Recording
	length := v.length(p, old.Length(), base.rhythm.Need)
	if length > old.Length()+5*time.Second && v.window == 0 && !v.quiet {
		fmt.Fprintf(os.Stderr, "measuring for %s: %s\n", units.Seconds(length), base.rhythm.Text)
	}
	f := findFlags{window: length, quiet: v.quiet, share: 0.02, target: sameTarget(old.Manifest.Target)}
	var load *loadRun
	if v.load != "" {
		if load, err = startLoad(v.load); err != nil {
			return "", err
		}
		defer load.end()
	}
	select {
	case <-time.After(v.settle):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	until, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-until.Done()
		stop() // the next Ctrl-C ends snag at once
	}()
	stayLean(ctx)
	recorded, begun := f.record(until, dir, 0, nil, nil)
	if recorded != nil {
		if !begun {
			return "", recorded
		}
		return "", fmt.Errorf("the recording was cut off: %w", recorded)
	}
	if load != nil {
		note = load.end()
	}
	return note, nil
}

// sameTarget is what the recording before looked at. A process that has ended since is
// looked for on the whole machine: the change may have asked for its restart.
func sameTarget(t recording.Target) recording.Target {
	if t.PID != 0 {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", t.PID)); err != nil {
			t.PID = 0
		}
	}
	return recording.Target{PID: t.PID, Unit: t.Unit, Port: t.Port, Netns: t.Netns}
}

func (o *outcome) write(out io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(shown.JSON(out))
		e.SetIndent("", "  ")
		return e.Encode(o)
	}
	fmt.Fprintf(out, "plan %s: %s", o.ID, strings.ToUpper(string(o.Outcome)))
	if o.Why != "" {
		fmt.Fprintf(out, ": %s", o.Why)
	}
	fmt.Fprintf(out, "\n\n")
	writeCompared(out, "symptom", o.Felt)
	if o.Cause != nil {
		writeCompared(out, "cause", *o.Cause)
	}
	if l := o.Load; l != nil {
		fmt.Fprintf(out, "  load    %s → %s %s (%.0f %%)\n", number(l.Before), number(l.After), l.Unit, 100*l.Ratio)
	}
	for _, n := range o.Notes {
		fmt.Fprintf(out, "  note    %s\n", n)
	}
	fmt.Fprintf(out, "\n  of %s (%s)\n  recordings %s → %s\n", o.Subject, o.Suspect, o.Baseline, o.Recording)
	if o.Did != "" {
		fmt.Fprintf(out, "\n%s\n", o.Did)
	}
	return nil
}

func writeCompared(out io.Writer, name string, c verify.Compared) {
	if c.What == "" {
		return // it did not come to that
	}
	figure := func(f verify.Figure) string {
		value, _ := inUnit(f.Value, c.Unit)
		low, _ := inUnit(f.Low, c.Unit)
		high, unit := inUnit(f.High, c.Unit)
		return fmt.Sprintf("%s [%s, %s]%s", value, low, high, unit)
	}
	fmt.Fprintf(out, "  %-7s %s: %s → %s: %s\n", name, c.What, figure(c.Before), figure(c.After), c.Outcome)
}

// inUnit writes an amount, and what is left to say of its unit: a latency has its own
// (23 ms), else the unit follows.
func inUnit(v float64, unit string) (text, rest string) {
	if after, ok := strings.CutPrefix(unit, "s,"); ok {
		return units.Seconds(time.Duration(v * float64(time.Second))), after
	}
	return number(v), " " + unit
}

// line is the outcome as the journal and status have it.
func (o *outcome) line() string {
	was, _ := inUnit(o.Felt.Before.Value, o.Felt.Unit)
	is, unit := inUnit(o.Felt.After.Value, o.Felt.Unit)
	text := fmt.Sprintf("%s %s → %s%s", o.Felt.What, was, is, unit)
	if o.Felt.What == "" {
		text = o.Suspect
	}
	if o.Why != "" {
		text += " (" + o.Why + ")"
	}
	return text
}

// number writes three figures of a small number, and a large one as people read it.
func number(v float64) string {
	if v >= 1000 {
		return units.Count(v)
	}
	return fmt.Sprintf("%.3g", v)
}
