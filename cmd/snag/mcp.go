package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/recorder"
	"snag/serve/agent"
)

func mcpCommand() *cobra.Command {
	var ring string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve agents over MCP on standard input and output: find, judge, compare and others, read-only",
		Long: `Serve a program that investigates on its own, over the Model Context Protocol on
standard input and output: it can find, judge, look back, compare, read and plan, and
reads recordings as resources. No tool changes the host or sends traffic; a plan is
carried out by a person. An answer is short: the verdict first, then the evidence, and
the addresses of the rest. As root it sees all of the host; without, it does what it
may and says what it could not see. docs/mcp.md has the tools, and how to add it to a
client.`,
		Example: `  claude mcp add snag -- sudo snag mcp
  ssh host sudo snag mcp                     the same on another host: a client runs this command`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find snag's own program, which runs the tools: %w", err)
			}
			// Writing to a client that is gone ends the session, which ends recordings that run.
			signal.Ignore(syscall.SIGPIPE)
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			s := agent.Server(agent.Options{
				Version: cli.Version, Ring: ring, Run: agent.Child(self), Root: os.Geteuid() == 0,
				NewFolder: func() (string, error) { return private.New(time.Now()) },
			})
			return s.Serve(ctx, os.Stdin, os.Stdout)
		},
	}
	cmd.Flags().StringVar(&ring, "ring", recorder.Default, "the folder of snag record's ring, for look_back, incidents and compare")
	return cmd
}
