package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/recording"
	"snag/remedies"
	"snag/remedies/knob"
	"snag/remedies/plan"
	"snag/verdict"
)

func tunePlan() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "plan DIR",
		Short: "What would remedy the culprit of a recording of this host",
		Long: `Judges a recording of this host and writes the plan: each change from its value now to
what was computed from the measurement, why, its risk, and what only the program can
do. It changes nothing.`,
		Example: `  sudo snag find --out /tmp/now; sudo snag tune plan /tmp/now --out plan.yaml`,
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := planFor(args[0])
			if err != nil {
				return err
			}
			return writePlan(cmd.OutOrStdout(), p, out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write it to this file (default: standard output)")
	return cmd
}

func planFor(dir string) (*plan.Plan, error) {
	r, err := recording.Open(dir)
	if err != nil {
		return nil, err
	}
	p, err := remedies.For(verdict.Judge(r), here())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	p.Snag, p.For.Recording = version, dir
	if whole, err := filepath.Abs(dir); err == nil {
		p.For.Recording = whole // verify may be run elsewhere
	}
	return p, nil
}

func here() remedies.Here {
	h := knob.Real()
	return remedies.Here{
		Netns:   netnsName,
		RouteTo: func(netns, address string) (string, error) { return knob.RouteTo(h, netns, address) },
		Started: func(pid int) (uint64, error) { return knob.Started(h.Proc, pid) },
		Read: func(t plan.Target) (string, error) {
			k, ok := knob.Kinds[t.Kind]
			if !ok {
				return "", fmt.Errorf("snag changes no %q yet", t.Kind)
			}
			return k.Read(h, t)
		},
		Same: func(t plan.Target, a, b string) bool { return knob.Kinds[t.Kind].Same(t, a, b) },
	}
}

// netnsName is the name under /run/netns of a namespace; "" is the host's own.
func netnsName(id uint64) (string, bool) {
	if own, err := netns.IDOf("/proc/1/ns/net"); err == nil && own == id {
		return "", true
	}
	names, err := os.ReadDir(netns.NamedDir)
	if err != nil {
		return "", false
	}
	for _, n := range names {
		var st unix.Stat_t
		if unix.Stat(filepath.Join(netns.NamedDir, n.Name()), &st) == nil && st.Ino == id {
			return n.Name(), true
		}
	}
	return "", false
}

func writePlan(out io.Writer, p *plan.Plan, path string) error {
	text, err := p.Text()
	if err != nil {
		return err
	}
	if path == "" {
		_, err := out.Write(text)
		return err
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write the plan %s: %w", path, errors.Unwrap(err))
	}
	fmt.Fprintf(out, "%s: %d changes, %d things that only you or the program can do\n", path, len(p.Changes), len(p.Advice))
	return nil
}
