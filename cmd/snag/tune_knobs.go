package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/nearest"
	"snag/remedies/knob"
	"snag/report"
)

func tuneKnobs() *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "knobs [NAME]",
		Short: "What snag can change: unit, range, since which kernel, when it helps, when it hurts",
		Example: `  snag tune knobs
  snag tune knobs qdisc
  snag tune knobs net.core.rmem_max
  snag tune knobs --json`,
		Args: cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case dir != "":
				return writeKnobs(dir)
			case len(args) == 0 && asJSON:
				return report.WriteValue(cmd.OutOrStdout(), knobPages(knob.Pages()))
			case len(args) == 0:
				listKnobs(cmd.OutOrStdout())
				return nil
			}
			p, ok := knob.PageOf(args[0])
			if !ok {
				return cli.Usage("snag changes nothing that is called %q%s (snag tune knobs lists what it changes)", args[0],
					nearest.DidYouMean(args[0], knobNames(), func(s string) string { return s }))
			}
			if asJSON {
				return report.WriteValue(cmd.OutOrStdout(), knobPages([]knob.Page{p}))
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), p.Markdown())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the pages as JSON, each with its settings (docs/json.md)")
	cmd.Flags().StringVar(&dir, "write", "", "write every page into this folder")
	_ = cmd.Flags().MarkHidden("write") // for make docs; it exists, so this can't fail
	return cmd
}

// knobNames are the kinds and the settings of which snag tune knobs has a page.
func knobNames() (out []string) {
	for _, p := range knob.Pages() {
		out = append(out, p.Name)
		for _, d := range p.Settings {
			out = append(out, d.Name)
		}
	}
	return out
}

func listKnobs(out io.Writer) {
	for _, p := range knob.Pages() {
		fmt.Fprintf(out, "%s: %s\n", p.Name, p.About)
		for _, d := range p.Settings {
			fmt.Fprintf(out, "  %-44s %s\n", d.Name, d.About)
		}
	}
}

// writeKnobs writes docs/knobs: a page each, and nothing else stays there.
func writeKnobs(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, p := range knob.Pages() {
		if err := os.WriteFile(filepath.Join(dir, p.Name+".md"), []byte(p.Markdown()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
