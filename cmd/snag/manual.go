package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/manpage"
)

// exitCodes are those of README.md and docs/json.md.
const exitCodes = `0	done; of find, judge and incidents: nothing wrong
1	failed
2	wrong usage
10	a culprit was found
11	something is wrong and no cause was proved, or too little was seen; of load: the figures are not the service's`

// manualCommand is for tools/release: it packs what this writes.
func manualCommand() *cobra.Command {
	return &cobra.Command{
		Use: "manual DIR", Short: "Write every command's manual page into a folder", Hidden: true,
		Args: cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			about := manpage.About{Version: cli.Version, Date: time.Now(), Exit: exitCodes}
			if at, err := time.Parse(time.RFC3339, cli.Date); err == nil {
				about.Date = at // two builds of one commit have the same pages
			}
			for _, c := range manpage.All(cmd.Root()) {
				if err := os.WriteFile(filepath.Join(args[0], manpage.Name(c)+".1"), manpage.Page(c, about), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
