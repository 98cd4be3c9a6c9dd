package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
	"snag/recording"
	"snag/remedies"
	"snag/remedies/plan"
	"snag/report"
	"snag/verdict"
)

type planFlags struct {
	out      string
	json     bool
	yaml     bool
	recorded bool
	auditFlags
}

func tunePlan() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "What would remedy the culprit of a recording, or what is too small for a role",
		Long: `Judge a recording and make the plan. For each change it has the value now, the value
computed from the measurement, why, the risk, how it is checked and what would keep it
after a reboot; and what only the program can change. It changes nothing. On a terminal
it prints the plan as text; else, or with --yaml, the file that snag tune apply reads.

For a recording of another host, or of this one before it was booted, the values now are
those of the recording.

With --audit it needs no culprit: it names what is too small for --role, with the source
and the measurement that would show that it matters. Without DIR it
looks at this host for some seconds.`,
		Example: `  sudo snag find --out /tmp/now; sudo snag tune plan /tmp/now --out plan.yaml
  sudo snag tune plan --audit --role udp-media --rate 40mbit`,
		Args: cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := f.make(cmd, args)
			if err != nil {
				return err
			}
			return f.write(cmd.OutOrStdout(), p)
		},
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write the plan's file here, and the plan for a person to standard output")
	cmd.Flags().BoolVar(&f.yaml, "yaml", false, "print the plan's file, to a terminal too")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the plan's file as JSON")
	cmd.Flags().BoolVar(&f.recorded, "recorded", false, "the values now are those of the recording, of this host too")
	f.registerAudit(cmd)
	return cmd
}

func (f *planFlags) make(cmd *cobra.Command, args []string) (*plan.Plan, error) {
	switch {
	case f.audit:
		return f.makeAudit(cmd.Context(), args)
	case f.role != "" || f.rate != "" || f.rtt != 0:
		return nil, cli.Usage("--role, --rate and --rtt are of an audit: say --audit as well")
	case len(args) == 0:
		return nil, cli.Usage("give the folder of a recording (snag find --out DIR), or --audit --role ROLE")
	}
	return planFor(args[0], f.recorded)
}

// planFor is the plan for a recording: on this host if it was made since its boot, or,
// with recorded, as the host was then.
func planFor(dir string, recorded bool) (*plan.Plan, error) {
	bound(dir)
	r, err := recording.Open(dir)
	if err != nil {
		return nil, err
	}
	p, err := remedies.For(verdict.Judge(r), hostOf(r, recorded))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	p.Snag, p.For.Recording = cli.Version, dir
	if whole, err := filepath.Abs(dir); err == nil {
		p.For.Recording = whole // verify may be run elsewhere
	}
	return p, nil
}

// write prints the plan as its reader wants it: a person, a program, a file.
func (f planFlags) write(out io.Writer, p *plan.Plan) error {
	text, err := p.Text()
	if f.json {
		text, err = p.JSON()
	}
	if err != nil {
		return err
	}
	person := shown.Under(out) == os.Stdout && isTerminal(os.Stdout) && !f.yaml && !f.json
	if f.out != "" {
		if err := private.Write(f.out, text); err != nil {
			return fmt.Errorf("write the plan %s: %w", f.out, err)
		}
		person = true
	}
	if !person {
		_, err := out.Write(text)
		return err
	}
	if err := report.WritePlan(out, p, report.Options{Color: shown.Under(out) == os.Stdout && isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "", Width: columns()}); err != nil {
		return err
	}
	return f.next(out, p)
}

// next is the command that goes on from here.
func (f planFlags) next(out io.Writer, p *plan.Plan) error {
	var err error
	switch {
	case len(p.Changes) == 0:
	case f.out != "":
		_, err = fmt.Fprintf(out, "\n%s is the plan's file: read it, then  sudo snag tune apply %s\n", f.out, f.out)
	default:
		_, err = fmt.Fprintf(out, "\nTo carry it out: the same with --out plan.yaml, then  sudo snag tune apply plan.yaml\n")
	}
	return err
}
