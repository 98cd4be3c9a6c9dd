package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/report"
	"snag/suspects"
)

func suspectsCommand() *cobra.Command {
	var pages string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "suspects [NAME]",
		Short: "Print the catalogue: what each suspect needs, what speaks for and against it, its remedy",
		Args:  cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if pages != "" {
				return writePages(pages)
			}
			switch {
			case len(args) == 0 && asJSON:
				return report.WriteValue(os.Stdout, report.NewCatalogue(suspects.All))
			case len(args) == 0:
				return report.WriteCatalogue(os.Stdout, suspects.All)
			}
			s := suspects.ByName(args[0])
			if s == nil {
				var names []string
				for _, s := range suspects.All {
					names = append(names, s.Name)
				}
				return cli.Usage("no suspect is called %q; there are: %s", args[0], strings.Join(names, " "))
			}
			if asJSON {
				return report.WriteValue(os.Stdout, report.NewCatalogueEntry(s))
			}
			_, err := fmt.Fprint(os.Stdout, report.Suspect(s))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON (docs/json.md)")
	cmd.Flags().StringVar(&pages, "write", "", "write every suspect's page into this folder")
	_ = cmd.Flags().MarkHidden("write") // for make docs; it exists, so this can't fail
	return cmd
}

// writePages writes docs/suspects: a page each, and nothing else stays there.
func writePages(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range suspects.All {
		if err := os.WriteFile(filepath.Join(dir, s.Name+".md"), []byte(report.Suspect(s)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
