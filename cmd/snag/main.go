// Command snag finds what a stream or a request is blocked by and names it, with
// evidence for and against.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/kernel"
	"snag/internal/shown"
	"snag/recording"
)

func main() {
	// In a container: without it, its coverage says which control groups were not measured.
	_ = kernel.JoinCgroups("/proc")
	if _, err := recording.MaxMemory(); err != nil {
		fmt.Fprintf(shown.To(os.Stderr), "snag: %v\n", err)
		os.Exit(cli.ExitUsage)
	}
	os.Exit(cli.Run(rootCommand(), os.Args[1:]))
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "snag",
		Short: "Find what a stream or a request is blocked by",
		Long: `snag watches a Linux host for half a minute and names what a stream or a request
is blocked by: the socket, the process, the queue, the knob; with evidence for and
against, what it ruled out, and what it could not see. It changes nothing.

  sudo snag find                look at the whole machine for 30 s
  sudo snag find --port 1935    at who listens there, and what the machine does to it`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: runRoot, PersistentPreRun: sayWithoutRoot,
	}
	root.AddCommand(findCommand(), recordCommand(), incidentsCommand(), profileCommand(), syscallsCommand(), blockedCommand(), judgeCommand(), compareCommand(), baselineCommand(), reportCommand(), readCommand(),
		showCommand(), suspectsCommand(), watchCommand(), loadCommand(), eliminateCommand(), tuneCommand(), drainCommand(), mcpCommand(), serveCommand(), versionCommand(), manualCommand(), labMovedCommand(), cleanCommand(), pageWriterCommand(), thinCommand(), packCommand(), cutRingCommand())
	group(root)
	complete(root)
	return root
}

// labMovedCommand is for the hands that still type snag-lab.
func labMovedCommand() *cobra.Command {
	return &cobra.Command{Use: "lab", Hidden: true, DisableFlagParsing: true, RunE: func(*cobra.Command, []string) error {
		return cli.Usage("the lab is its own program now, snag-lab: make build makes bin/snag-lab")
	}}
}
