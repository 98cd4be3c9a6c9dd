// Package cli is what snag and snag-lab have in common as commands: their exit codes,
// what they say of wrong usage, their version.
package cli

import (
	"errors"
	"fmt"
	"os"
	"snag/internal/shown"

	"github.com/spf13/cobra"
)

// Version, Commit and Date are set by the linker (Makefile, tools/release): the release or what git describe says, the
// commit in full, and when it was made (RFC 3339, UTC). "": a build that did not set them.
var (
	Version = "dev"
	Commit  string
	Date    string
)

// Exit codes, documented in the README: scripts depend on them.
const (
	ExitNothing = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitCulprit = 10
	// ExitCantTell: something is wrong and no cause was proved, or too little was
	// seen to say that nothing is.
	ExitCantTell = 11
)

// Exit ends the command with a code and, when Err is set, a message.
type Exit struct {
	Code int
	Err  error
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Exit) Unwrap() error { return e.Err }

// Run runs a program's root command and returns its exit code.
func Run(root *cobra.Command, args []string) int {
	root.Version = Version
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetArgs(args)
	// What commands print has others' names in it.
	root.SetOut(shown.To(os.Stdout))
	root.SetErr(shown.To(os.Stderr))
	err := root.Execute()
	if err == nil {
		return ExitNothing
	}
	var e *Exit
	if !errors.As(err, &e) {
		e = &Exit{ExitFailed, err}
	}
	if e.Err != nil {
		fmt.Fprintf(root.ErrOrStderr(), "%s: %v\n", root.Name(), e.Err)
	}
	return e.Code
}
