package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/nearest"
	"snag/internal/shown"
	"snag/recording"
	"snag/report"
)

func showCommand() *cobra.Command {
	var table string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show DIR",
		Short: "Print what is in a recording",
		Long: `Print what is in a recording: what host, when, what each probe measured and cost,
how many rows of which table, which series. --table NAME prints one table's rows,
a JSON object a line; --table samples the series with their values.`,
		Example: `  snag show /tmp/snag-20261121-045359-2871936418
  snag show /tmp/snag-20261121-045359-2871936418 --table sockets`,
		Args: cli.UsageArgs(cobra.ExactArgs(1), "the folder that snag find kept, or a packed recording"),
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON && table != "" {
				return cli.Usage("--json: the rows of --table are JSON already")
			}
			bound(args[0])
			s, err := ready(args[0])
			if err != nil {
				return err
			}
			defer s.close()
			r, err := s.open(args[0])
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				return report.WriteValue(os.Stdout, report.NewContents(r))
			case table != "":
				return showTable(os.Stdout, r, table)
			}
			return report.WriteContents(os.Stdout, r)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON (docs/json.md)")
	cmd.Flags().StringVar(&table, "table", "", "print the rows of this table, a JSON object a line")
	return cmd
}

// tableNames are the values of --table.
func tableNames() []string { return append([]string{"samples"}, recording.TableNames()...) }

// tablesInstead names the tables that are near, or all.
func tablesInstead(typed string) string {
	if near := nearest.DidYouMean(typed, tableNames(), func(s string) string { return s }); near != "" {
		return near
	}
	return "; there are: " + strings.Join(tableNames(), " ")
}

func showTable(out io.Writer, r *recording.Recording, name string) error {
	enc := json.NewEncoder(shown.JSON(out))
	enc.SetEscapeHTML(false)
	if name == "samples" {
		for _, s := range r.Series {
			if err := enc.Encode(s); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	there := r.EachRow(name, func(row recording.Row) bool {
		err = enc.Encode(row)
		return err == nil
	})
	if !there {
		return cli.Usage("--table %s: there is no such table%s", name, tablesInstead(name))
	}
	if err != nil {
		return fmt.Errorf("print table %s: %w", name, err)
	}
	return nil
}
