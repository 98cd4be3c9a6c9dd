// Command snag finds what a stream or a request is caught on and names it, with
// evidence for and against.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// version is set by the linker (Makefile).
var version = "dev"

// Exit codes, documented in the README: scripts depend on them.
const (
	exitNothing = 0
	exitFailed  = 1
	exitUsage   = 2
	exitCulprit = 10
)

// exit ends the command with a code and, when err is set, a message.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	root := rootCommand()
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitNothing
	}
	var e *exit
	if !errors.As(err, &e) {
		e = &exit{exitFailed, err}
	}
	if e.err != nil {
		fmt.Fprintln(os.Stderr, "snag:", e.err)
	}
	return e.code
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "snag",
		Short: "Find what a stream or a request is caught on",
		Long: `snag watches a Linux host for half a minute and names what a stream or a request
is caught on: the socket, the process, the queue, the knob; with evidence for and
against, what it ruled out, and what it could not see. It changes nothing.

  sudo snag find                look at the whole machine for 30 s
  sudo snag find --port 1935    at who listens there, and what the machine does to it`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          usageArgs(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(findCommand(), profileCommand(), syscallsCommand(), blockedCommand(), judgeCommand(), reportCommand(), readCommand(),
		showCommand(), suspectsCommand(), watchCommand(), tuneCommand(), labCommand(), labJanitorCommand(), labActorCommand())
	return root
}
