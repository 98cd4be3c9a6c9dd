package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab/drawn"
	"snag/lab/referee"
)

// drawnNoiseCommand makes `snag-lab drawn noise`.
func drawnNoiseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "noise A B",
		Short: "Compare the healthy runs of the same draws in two folders: what the referee sees there is noise",
		Args:  cli.UsageArgs(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error {
			a, b := drawn.Folder(args[0]), drawn.Folder(args[1])
			all, err := a.All()
			if err != nil {
				return err
			}
			both, noticed, void := 0, 0, 0
			for _, one := range all {
				if one.Faulty || one.Error != "" || !b.Has(one.Key, false) {
					continue
				}
				other, err := b.Note(one.Key)
				if err != nil {
					return err
				}
				for i, p := range one.Parts {
					h := referee.Compare(p.Figures, other.Parts[i].Figures)
					both++
					switch {
					case h.Void != "":
						void++
					case h.Noticed:
						noticed++
						fmt.Fprintf(c.OutOrStdout(), "%s, %s: %s\n", one.Key, p.Family, h)
					}
				}
			}
			if both == 0 {
				return fmt.Errorf("%s and %s have no healthy run of the same draw", a, b)
			}
			fmt.Fprintf(c.OutOrStdout(), "%d services in two healthy runs each: the referee saw a difference in %d, %d void\n", both, noticed, void)
			return nil
		},
	}
}
