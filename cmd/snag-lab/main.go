// Command snag-lab makes real incidents and sees whether snag finds them. It is for who
// works on snag, and is not shipped with it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"snag/internal/cli"
)

func main() { os.Exit(cli.Run(rootCommand(), os.Args[1:])) }

func rootCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "snag-lab",
		Short: "Make real incidents here and see whether snag finds them",
		Long: `Makes real incidents on this machine in network namespaces of their own, each with a healthy
twin and a distractor, and runs snag find beside them. Needs root. Removes all that it made,
even when it is killed.`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(listCommand(), runCommand(), remedyCommand(), scoreCommand(), scoreAllCommand(), healthyCommand(), calibrateCommand(), demoCommand(), drawnCommand(), eliminateCommand(), fleetCommand(),
		janitorCommand(), actorCommand())
	return c
}

// untilSignal ends on Ctrl-C and kin, so that what was made is removed.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx == nil {
		ctx = context.Background()
	}
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}
