package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/origin"
	reconnectstorm "snag/lab/reconnect-storm"
)

// demoCommand makes `snag-lab demo`: the incident of the README, on the user's
// terminal.
func demoCommand() *cobra.Command {
	var length time.Duration
	var path string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Make a reconnect storm on nginx-rtmp and let snag find it",
		Long: "Makes a real incident: nginx with its RTMP module, ffmpeg publishing to it, players watching, and\n" +
			"edge relays that reconnect at once each time they are refused. Then runs snag find beside it.\n" +
			"All in network namespaces of their own, and all removed at the end. Needs root and the Debian\n" +
			"packages nginx, libnginx-mod-rtmp, ffmpeg and iproute2.",
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if length < time.Second || length > lab.MaxLife/2 {
				return cli.Usage("demo: --for %v: want between 1s and %v", length, lab.MaxLife/2)
			}
			snag, err := snagPath(path)
			if err != nil {
				return err
			}
			if err := demoPackages(); err != nil {
				return err
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			return demo(ctx, c.OutOrStdout(), snag, length)
		},
	}
	c.Flags().DurationVar(&length, "for", 20*time.Second, "how long snag find records")
	c.Flags().StringVar(&path, "snag", "", "the snag binary that finds (default: the one beside this program, else in PATH)")
	return c
}

// demoPackages names the Debian packages that are missing.
func demoPackages() error {
	var missing []string
	for _, t := range lab.Missing(reconnectstorm.Incident) {
		missing = append(missing, t.Package)
	}
	if origin.Check() != nil {
		missing = append(missing, "libnginx-mod-rtmp")
	}
	if len(missing) > 0 {
		return fmt.Errorf("demo: Debian packages are missing; install them with: apt-get install --no-install-recommends %s",
			strings.Join(missing, " "))
	}
	return nil
}

func demo(ctx context.Context, w io.Writer, path string, length time.Duration) (err error) {
	say := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	s, err := lab.NewStage(ctx, lab.Options{Log: say})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	say("Making an incident in network namespaces %s, %s and %s; all is removed at the end.",
		s.Name("origin"), s.Name("users"), s.Name("edges"))
	say("  nginx serves RTMP on port 1935, ffmpeg publishes live/%s, three ffmpeg players watch it;", origin.Stream)
	say("  three edge relays ask for live/%s, which nobody publishes, and try again at once.", reconnectstorm.Missing)
	if err := s.Start(reconnectstorm.Incident, lab.Sick); err != nil {
		return err
	}
	rate, err := connectRate(ctx, s)
	if err != nil {
		return err
	}
	say("The players watch, and nginx gets %.0f connects per second.\n\n$ snag find --for %v", rate, length)
	code, err := s.Foreground([]string{path, "find", "--for", length.String()}, os.Stdin, w, os.Stderr)
	switch {
	case err != nil:
		return err
	case code == cli.ExitNothing, code == cli.ExitCantTell:
		return errors.New("demo: snag find named no culprit in the storm: please report it with the output above")
	case code != cli.ExitCulprit:
		return fmt.Errorf("demo: snag find ended with exit code %d", code)
	}
	return nil
}

// connectRate measures what the demo claims: connects per second at the origin.
func connectRate(ctx context.Context, s *lab.Stage) (float64, error) {
	const window = 2 * time.Second
	before, err := s.Counter(s.Name("origin"), "Tcp", "PassiveOpens")
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(window):
	}
	after, err := s.Counter(s.Name("origin"), "Tcp", "PassiveOpens")
	return float64(after-before) / window.Seconds(), err
}
