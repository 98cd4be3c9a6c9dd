package main

import (
	"context"
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
	"snag/remedies/apply"
	"snag/remedies/plan"
	"snag/report"
)

type tuneFlags struct {
	store  string
	within time.Duration
	dry    bool
	root   string // of a test's, or an image's, in place of /
	run    string // of a test's, where stores exclude each other
	leave  bool   // overdue plans, for a caller that must change nothing
}

// real is this host's store.
func (f *tuneFlags) real() (*apply.Store, error) {
	s, err := apply.Real(f.store, f.run)
	if err == nil {
		s.Tell = func(text string) { fmt.Fprintln(os.Stderr, "snag tune:", text) }
	}
	return s, err
}

func tuneCommand() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Carry out, confirm or take back the changes of a plan",
		Long: `Carry out a plan so that it can be undone. Every old value is on disk before its
setting is touched; unless another invocation confirms in time, all is undone.
Nothing outlasts a reboot before it is confirmed and persisted.`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(cmd *cobra.Command, args []string) {
			sayWithoutRoot(cmd, args)
			if cmd.Name() != guardName && !f.leave {
				undoOverdue(cmd.ErrOrStderr(), &f)
			}
		},
	}
	cmd.PersistentFlags().StringVar(&f.store, "store", apply.DefaultDir, "the folder of the journals")
	cmd.PersistentFlags().StringVar(&f.root, "root", "", "files that outlast a reboot are below this folder in place of /")
	cmd.PersistentFlags().StringVar(&f.run, "run", "", "snags that name the same folder exclude each other (default: those of one host do)")
	cmd.PersistentFlags().BoolVar(&f.leave, "leave-overdue", false, "do not undo plans that are overdue: snag mcp changes nothing")
	_ = cmd.PersistentFlags().MarkHidden("leave-overdue")
	_ = cmd.PersistentFlags().MarkHidden("root")
	_ = cmd.PersistentFlags().MarkHidden("run")
	cmd.AddCommand(
		tunePlan(),
		tuneApply(&f),
		tuneConfirm(&f),
		tuneUndo(&f),
		tuneVerify(&f),
		tuneStatus(&f),
		tuneKnobs(),
		tuneAblate(&f),
		tuneGuard(&f),
		tuneExport(),
		tuneCheck(),
		tunePersist(&f),
	)
	return cmd
}

func tuneApply(f *tuneFlags) *cobra.Command {
	var v verifyFlags
	cmd := &cobra.Command{
		Use:   "apply PLAN",
		Short: "Make the changes of a plan, until they are confirmed or their time is over",
		Example: `  sudo snag tune apply plan.yaml
  sudo snag tune confirm             from a new session: that it opens shows that the host can be reached
  snag tune apply plan.yaml --dry-run
  sudo snag tune apply plan.yaml --auto --for 30s`,
		Args: cli.UsageArgs(cobra.ExactArgs(1), "the file of a plan, made by snag tune plan --out FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return applyPlan(cmd, f, &v, args[0]) },
	}
	v.register(cmd)
	cmd.Flags().BoolVar(&v.auto, "auto", false, "measure the outcome (--for, --settle, --load, as verify) and go by it: confirm if the symptom is gone, undo if nothing got better")
	cmd.Flags().DurationVar(&f.within, "within", apply.Within, "undo everything if it is not confirmed within this time")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "print every write, and make none")
	return cmd
}

func applyPlan(cmd *cobra.Command, f *tuneFlags, v *verifyFlags, path string) error {
	if err := v.check(); err != nil {
		return err
	}
	out := linesTo(cmd.OutOrStdout(), v)
	p, err := plan.ReadFile(path)
	if err != nil {
		return err
	}
	s, err := f.real()
	if err != nil {
		return err
	}
	if f.dry {
		if err := s.Check(p); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, c := range apply.Ordered(p.Changes) {
			fmt.Fprintf(out, "would set %s: %s → %s\n", c.Target, c.Now, c.Then)
		}
		return nil
	}
	if os.Geteuid() != 0 {
		return errors.New("snag tune apply: it changes settings of the kernel: run it as root")
	}
	within := f.within
	if v.auto {
		if err := checkAuto(p); err != nil {
			return err
		}
		base, err := baselineOf(p) // before anything is changed
		if err != nil {
			return fmt.Errorf("--auto: the plan: %w", err)
		}
		within = max(within, v.length(p, base.before.Recording.Length(), base.rhythm.Need)+v.settle+autoSpare)
	}
	// A signal must not end it between two writes: what it began, it ends.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	e, err := s.Apply(p, within, func(c apply.Change) {
		fmt.Fprintf(out, "%s: %s → %s\n", c.Target, c.Now, c.Got)
	})
	if err != nil {
		return err
	}
	if v.auto {
		return settleAuto(cmd, s, e.ID, v)
	}
	fmt.Fprintf(out, "\nAll of this is undone at %s (by %s), unless you run, from a new session:\n\n  snag tune confirm %s\n",
		s.DeadlineOf(e.State).Local().Format(time.TimeOnly), e.State.By, e.ID)
	return nil
}

func tuneConfirm(f *tuneFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "confirm [ID]",
		Short:   "Keep what the last plan changed",
		Example: `  sudo snag tune confirm`,
		Args:    cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onPlan(f, args, func(s *apply.Store, id string) error {
				e, err := s.Confirm(id)
				if err == nil {
					fmt.Fprintf(cmd.OutOrStdout(), "plan %s is kept, until a reboot (snag tune persist has it hold after that too); snag tune undo %s takes it back\n", e.ID, e.ID)
				}
				return err
			})
		},
	}
}

func tuneUndo(f *tuneFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "undo [ID]",
		Short:   "Take back what the last plan changed",
		Example: `  sudo snag tune undo 20261127-071533.120911`,
		Args:    cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onPlan(f, args, func(s *apply.Store, id string) error {
				e, err := s.Undo(id, "asked for by a person")
				if err == nil {
					writeUndone(cmd.OutOrStdout(), e)
				}
				if apply.OnlyNotNoted(err) {
					fmt.Fprintf(cmd.OutOrStdout(), "plan %s: all %d settings are as before\n", e.ID, len(e.State.Changes))
					fmt.Fprintln(cmd.ErrOrStderr(), "snag tune:", err)
					err = nil
				}
				if e.State.Persisted && len(e.State.Files) == 0 {
					fmt.Fprintln(cmd.OutOrStdout(), "its files are no longer snag's; systemctl daemon-reload makes systemd read again what is there")
				}
				return err
			})
		},
	}
}

// settingsAre counts settings, with the verb.
func settingsAre(n int) string {
	if n == 1 {
		return "1 setting is"
	}
	return fmt.Sprintf("%d settings are", n)
}

// writeUndone says what an undo came to.
func writeUndone(out io.Writer, e apply.Entry) {
	ended := e.State.Ended()
	switch n := len(e.State.Changes); {
	case n > 0 && n == len(ended):
		fmt.Fprintf(out, "plan %s: nothing is left to undo, and it is settled\n", e.ID)
	default:
		fmt.Fprintf(out, "plan %s is undone: %s as before\n", e.ID, settingsAre(n-len(ended)))
	}
	for _, c := range ended {
		fmt.Fprintf(out, "  %s: %s\n", c.Target, c.Ended)
	}
	if e.Unchecked {
		fmt.Fprintln(out, "  its journal is of an older snag and has no checksums: its values are those of the plan beside it, and not checked otherwise")
	}
}

func onPlan(f *tuneFlags, args []string, do func(*apply.Store, string) error) error {
	s, err := f.real()
	if err != nil {
		return err
	}
	s.Disk.Root = f.root
	return do(s, strings.Join(args, ""))
}

func tuneStatus(f *tuneFlags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "What was changed on this host, and what of it still holds",
		Example: `  snag tune status`,
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return onPlan(f, nil, func(s *apply.Store, _ string) error {
				all, err := s.All()
				if err != nil {
					return err
				}
				if asJSON {
					return report.WriteValue(cmd.OutOrStdout(), statusRows(s, all))
				}
				if len(all) == 0 {
					fmt.Fprintln(cmd.OutOrStdout(), "snag has changed nothing on this host")
				}
				for _, e := range all {
					writeStatus(cmd.OutOrStdout(), s, e)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON (docs/json.md)")
	return cmd
}

func writeStatus(out io.Writer, s *apply.Store, e apply.Entry) {
	st := e.State
	if e.Damage != nil {
		fmt.Fprintf(out, "%s  DAMAGED: %v\n  what is certain of it: ", e.ID, e.Damage)
	}
	fmt.Fprintf(out, "%s  %s", e.ID, st.Phase)
	switch {
	case st.Open() && !st.Settled() && st.Boot == s.Boot && !e.Guarded():
		fmt.Fprintf(out, ": NOBODY WAITS FOR IT ANY MORE (%s is gone): take it back with snag tune undo %s", st.By, e.ID)
		if st.Phase == apply.Unconfirmed {
			fmt.Fprintf(out, ", or keep it with snag tune confirm %s", e.ID)
		}
	case st.Phase == apply.Unconfirmed && st.Boot == s.Boot:
		fmt.Fprintf(out, ": undone at %s by %s, unless it is confirmed", s.DeadlineOf(st).Local().Format(time.TimeOnly), st.By)
	case st.Boot != s.Boot && len(st.Files) > 0:
		fmt.Fprint(out, ": the host was booted since; the files below set it again")
	case st.Phase == apply.Trying && st.Boot == s.Boot:
		fmt.Fprintf(out, ": settings are switched to and fro, until %s at the latest (%s puts them back)", s.DeadlineOf(st).Local().Format(time.TimeOnly), st.By)
	case st.Boot != s.Boot && st.Phase != apply.Undone && st.Phase != apply.Nothing:
		fmt.Fprint(out, ": the host was booted since, and the changes went with that")
	case st.Why != "":
		fmt.Fprintf(out, ": %s", st.Why)
	}
	fmt.Fprintln(out)
	for _, v := range st.Verified {
		fmt.Fprintf(out, "  verified at %s: %s: %s\n", v.At.Local().Format(time.TimeOnly), v.Outcome, v.Text)
	}
	for _, c := range st.Changes {
		fmt.Fprintf(out, "  %s: %s → %s", c.Target, c.Old, c.New)
		switch {
		case c.Ended != "":
			fmt.Fprintf(out, " (%s)", c.Ended)
		case c.Undone:
			fmt.Fprint(out, " (undone)")
		case c.Problem != "":
			fmt.Fprintf(out, " (NOT UNDONE: %s)", c.Problem)
		}
		fmt.Fprintln(out)
	}
	for _, file := range st.Files {
		fmt.Fprintf(out, "  %s: written, to hold after a reboot\n", file.Path)
	}
}

const guardName = "guard"

// undoOverdue takes back what is past its deadline and was left so: whoever was to wait
// for it is gone (killed, or out of memory). Every command of tune does it first.
func undoOverdue(out io.Writer, f *tuneFlags) {
	if os.Geteuid() != 0 {
		return
	}
	s, err := f.real()
	if err != nil {
		return // what the command itself does will say so
	}
	for _, o := range s.UndoOverdue() {
		if o.Err != nil {
			fmt.Fprintf(out, "snag: plan %s is overdue, no request waits for it any more, and it could not be undone: %v\n", o.ID, o.Err)
			continue
		}
		fmt.Fprintf(out, "snag: plan %s was overdue and no snag tune waited for it: it is undone now\n", o.ID)
	}
}

// tuneGuard is what waits for the deadline.
func tuneGuard(f *tuneFlags) *cobra.Command {
	return &cobra.Command{
		Use:    guardName + " DIR",
		Hidden: true,
		Args:   cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := apply.Real(filepath.Dir(args[0]), f.run)
			if err != nil {
				return err
			}
			signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer stop()
			return s.Guard(ctx, filepath.Base(args[0]), os.Stdout, os.Stderr)
		},
	}
}
