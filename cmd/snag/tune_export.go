package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"snag/internal/cli"
	"snag/remedies/export"
	"snag/remedies/knob"
	"snag/remedies/persist"
	"snag/remedies/plan"
	"snag/report"
)

func tuneExport() *cobra.Command {
	var as, out, name string
	cmd := &cobra.Command{
		Use:   "export PLAN --as " + strings.Join(export.Formats(), "|"),
		Short: "Write a plan as the files that other tools keep settings in",
		Long: `Writes a plan as a sysctl.d drop-in, as systemd's files, as an Ansible task list, as a
shell script or as a tuned profile. It changes nothing. What a format can't hold is said
on standard error and in the file.`,
		Example: `  snag tune export plan.yaml --as sysctl.d
  snag tune export plan.yaml --as unit --out files/`,
		Args: cli.UsageArgs(cobra.ExactArgs(1), "the file of a plan, made by snag tune plan --out FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(export.Formats(), as) {
				return cli.Usage("snag tune export: --as is one of %s (%s --help)", strings.Join(export.Formats(), ", "), cmd.CommandPath())
			}
			p, err := plan.ReadFile(args[0])
			if err != nil {
				return err
			}
			r, err := export.As(as, p, name, knob.ForPlan(), factsFor(cmd.ErrOrStderr(), p))
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			tellOf(cmd.ErrOrStderr(), r)
			if len(r.Files) == 0 {
				return fmt.Errorf("%s: nothing of it can be held as %s", args[0], as)
			}
			if out != "" {
				return writeExport(cmd.OutOrStdout(), r, out)
			}
			return printExport(cmd.OutOrStdout(), r)
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "the format: "+strings.Join(export.Formats(), ", "))
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the files below this folder (default: standard output)")
	cmd.Flags().StringVar(&name, "name", "", "what the files are called (default: the plan's cause)")
	return cmd
}

// factsFor reads this host, if the plan is for it.
func factsFor(errs io.Writer, p *plan.Plan) export.Facts {
	if host, err := os.Hostname(); p.Host != "" && (err != nil || host != p.Host) {
		fmt.Fprintf(errs, "snag tune: the plan is for the host %s, and this is %s: what only that host knows (routes, queue disciplines, addresses of cards) is left out\n", p.Host, host)
		return export.Facts{}
	}
	return persist.FactsOf(knob.Real(), knob.Kinds, p)
}

// tellOf says on standard error what a format does not hold and what one must know.
func tellOf(errs io.Writer, r export.Result) {
	for _, l := range r.Left {
		fmt.Fprintf(errs, "snag tune: not held: change %s, %s = %s: %s\n", l.Change.ID, l.Change.Target, l.Change.Then, l.Why)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(errs, "snag tune: note: %s\n", n)
	}
	for _, u := range r.Start {
		fmt.Fprintf(errs, "snag tune: note: it must be enabled: systemctl enable --now '%s'\n", u)
	}
}

func printExport(out io.Writer, r export.Result) error {
	var b strings.Builder
	for _, f := range r.Files {
		if len(r.Files) > 1 {
			fmt.Fprintf(&b, "### %s\n", f.Path)
		}
		b.WriteString(f.Text)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeExport writes below a folder; it takes no file's place.
func writeExport(out io.Writer, r export.Result, dir string) error {
	for _, f := range r.Files {
		path := filepath.Join(dir, filepath.Clean("/"+f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", path, errors.Unwrap(err))
		}
		mode := os.FileMode(0o644)
		if f.Run {
			mode = 0o755
		}
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, mode)
		if err != nil {
			return fmt.Errorf("write %s: %w: give another folder with --out", path, errors.Unwrap(err))
		}
		_, err = w.WriteString(f.Text)
		if c := w.Close(); err == nil {
			err = c
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", path, errors.Unwrap(err))
		}
		fmt.Fprintln(out, path)
	}
	return nil
}

func tuneCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "check PLAN...",
		Short:   "Say all that is wrong with plan files, for review; it needs no root and looks at no host",
		Example: `  snag tune check plans/*.yaml`,
		Args:    cli.UsageArgs(cobra.MinimumNArgs(1), "the file of a plan, made by snag tune plan --out FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []error
			rows := []checkedRow{}
			for _, path := range args {
				row, err := checkPlan(path)
				rows = append(rows, row)
				if err != nil {
					all = append(all, err)
				} else if !asJSON {
					fmt.Fprintf(cmd.OutOrStdout(), "%s: %d changes, all valid; %d things that only you or the program can do\n", path, row.Changes, row.Advice)
				}
			}
			if asJSON {
				if err := report.WriteValue(cmd.OutOrStdout(), rows); err != nil {
					return err
				}
			}
			return errors.Join(all...)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON (docs/json.md)")
	return cmd
}

// checkedRow is what is wrong with one plan file.
type checkedRow struct {
	Plan    string   `json:"plan"`
	Valid   bool     `json:"valid"`
	Changes int      `json:"changes"`
	Advice  int      `json:"advice"`
	Wrong   []string `json:"wrong"`
}

func checkPlan(path string) (checkedRow, error) {
	row := checkedRow{Plan: path, Wrong: []string{}}
	p, err := plan.ReadFile(path)
	if err != nil {
		row.Wrong = []string{err.Error()}
		return row, err
	}
	row.Changes, row.Advice = len(p.Changes), len(p.Advice)
	if err := p.Valid(knob.ForPlan()); err != nil {
		row.Wrong = strings.Split(err.Error(), "\n")
		// Each line on its own, as reviews and CI show them.
		return row, errors.New(path + ": " + strings.Join(row.Wrong, "\n"+path+": "))
	}
	row.Valid = true
	return row, nil
}
