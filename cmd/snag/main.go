// Command snag finds what a stream or a request is caught on.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "snag", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(labCommand(), labJanitorCommand(), labActorCommand())
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "snag:", err)
		os.Exit(1)
	}
}
