package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"snag/lab"
	"snag/lab/all"
)

// labCommand makes `snag lab`.
func labCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Make real incidents here and see whether snag finds them",
		Long: "Makes real incidents on this machine in network namespaces of their own, each with a healthy\n" +
			"twin and a distractor, and runs snag find beside them. Needs root. Removes all that it made,\n" +
			"even when it is killed.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(labListCommand(), labRunCommand(), labRemedyCommand(), labScoreCommand(), labScoreAllCommand(), labHealthyCommand(), labCalibrateCommand(), demoCommand())
	return c
}

func labListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Print the incidents",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			for _, i := range all.Incidents {
				fmt.Fprintf(c.OutOrStdout(), "%-26s %s\n%-26s distractor: %s\n", i.Name, i.Title, "", i.Distractor)
				if i.VM != nil {
					fmt.Fprintf(c.OutOrStdout(), "%-26s needs a machine of its own: make lab-vm\n", "")
				}
				for _, t := range lab.Missing(i) {
					fmt.Fprintf(c.OutOrStdout(), "%-26s missing here: %s (apt-get install %s)\n", "", t.Command, t.Package)
				}
			}
			return nil
		},
	}
}

// untilSignal ends on Ctrl-C and kin, so that what was made is removed.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx == nil {
		ctx = context.Background()
	}
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}
