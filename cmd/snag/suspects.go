package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/nearest"
	"snag/report"
	"snag/suspects"
)

func suspectsCommand() *cobra.Command {
	var pages string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "suspects [NAME]",
		Short:   "Print the catalogue: what each suspect needs, what speaks for and against it, its remedy",
		Example: `  snag suspects listen-overflow`,
		Args:    cli.UsageArgs(cobra.MaximumNArgs(1)),
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
				return noSuspect(args[0])
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

func suspectNames() (out []string) {
	for _, s := range suspects.All {
		out = append(out, s.Name)
	}
	return out
}

// noSuspect names those that are near, and all only where none is.
func noSuspect(typed string) error {
	near := nearest.DidYouMean(typed, suspectNames(), func(s string) string { return s })
	if near == "" {
		near = "; there are: " + strings.Join(suspectNames(), " ")
	}
	return cli.Usage("no suspect is called %q%s (snag suspects lists them)", typed, near)
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
