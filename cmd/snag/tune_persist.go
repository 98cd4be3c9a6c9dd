package main

import (
	"cmp"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/remedies/apply"
	"snag/remedies/conflict"
	"snag/remedies/export"
	"snag/remedies/knob"
	"snag/remedies/persist"
	"snag/remedies/plan"
)

func tunePersist(f *tuneFlags) *cobra.Command {
	var as, name string
	cmd := &cobra.Command{
		Use:   "persist [ID]",
		Short: "Have what the last plan changed outlast a reboot",
		Long: `Writes the files that hold a confirmed plan after a reboot, below /etc. It never takes
another file's place; snag tune undo removes them and puts the old values back.`,
		Example: `  sudo snag tune persist     once the plan is confirmed`,
		Args:    cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(persist.Formats, as) {
				return cli.Usage("snag tune persist: --as is one of %s (%s --help)", strings.Join(persist.Formats, ", "), cmd.CommandPath())
			}
			return onPlan(f, args, func(s *apply.Store, id string) error {
				return persistPlan(cmd.OutOrStdout(), cmd.ErrOrStderr(), s, id, as, name)
			})
		},
	}
	cmd.Flags().StringVar(&as, "as", "unit", "the format: "+strings.Join(persist.Formats, ", ")+"; unit holds the most")
	cmd.Flags().StringVar(&name, "name", "", "what the files are called (default: the plan's cause)")
	return cmd
}

func persistPlan(out, errs io.Writer, s *apply.Store, id, as, name string) error {
	// A signal must not end it between two files: what it began, it ends.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	var files []persist.File
	left := 0
	e, err := s.Persist(id, func(p *plan.Plan) ([]persist.File, error) {
		r, err := export.As(as, p, name, knob.ForPlan(), persist.FactsOf(knob.Real(), knob.Kinds, p))
		if err != nil {
			return nil, err
		}
		start := r.Start
		r.Start = nil // the links are made, not advised
		tellOf(errs, r)
		r.Start = start
		if len(r.Files) == 0 {
			return nil, fmt.Errorf("nothing of the plan can be held as %s", as)
		}
		left = len(r.Left)
		files, err = persist.FilesOf(r)
		return files, err
	})
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(out, f.Path)
	}
	for _, text := range conflict.Of(e.Plan, conflict.Facts{Files: conflict.ReadFiles(cmp.Or(s.Disk.Root, "/"))}) {
		fmt.Fprintf(errs, "snag tune: works against it: %s\n", text)
	}
	but := ""
	if left > 0 {
		but = fmt.Sprintf(", but for the %d changes named above", left)
	}
	fmt.Fprintf(out, "plan %s holds after a reboot%s; systemctl daemon-reload has systemd read the files before\nsnag tune undo %s removes them and puts the old values back\n", e.ID, but, e.ID)
	return nil
}
