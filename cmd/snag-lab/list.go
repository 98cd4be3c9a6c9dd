package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/all"
)

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Print the incidents",
		Args:  cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			for _, i := range all.Incidents {
				fmt.Fprintf(c.OutOrStdout(), "%-26s %s\n%-26s distractor: %s\n", i.Name, i.Title, "", i.Distractor)
				if i.VM != nil {
					fmt.Fprintf(c.OutOrStdout(), "%-26s needs a separate machine: make lab-vm\n", "")
				}
				for _, t := range lab.Missing(i) {
					fmt.Fprintf(c.OutOrStdout(), "%-26s missing here: %s (apt-get install %s)\n", "", t.Command, t.Package)
				}
			}
			return nil
		},
	}
}
