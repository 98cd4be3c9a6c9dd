package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/recording"
	"snag/report/page"
	"snag/verdict"
)

func reportCommand() *cobra.Command {
	var file, baseline string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Write the verdict on a recording as one HTML page",
		Long: `Judge a recording and write one self-contained HTML page: the verdict, the path
of the data with the culprit marked, a timeline with the series behind each piece
of evidence, and the tables. It opens from disk and asks the network for nothing.

The page goes to DIR.html, beside the recording; --html names another file, and
--html - is standard output. With --baseline the flame graphs show what takes more
and what less than it did then. It ends with 0 whatever the verdict is.`,
		Example: `  snag report /tmp/snag-20261121-045359-2871936418
  snag report DIR --html - | ssh desk 'cat > incident.html'`,
		Args: cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := recording.Open(args[0])
			if err != nil {
				return err
			}
			if baseline != "" {
				if r.Baseline, err = recording.Open(baseline); err != nil {
					return fmt.Errorf("--baseline: %w", err)
				}
			}
			v := verdict.Judge(r)
			if cmd.Flags().Changed("html") && file == "" {
				return cli.Usage("--html: the file has no name")
			}
			if file == "-" {
				return page.WriteHTML(os.Stdout, v)
			}
			if file == "" {
				file = strings.TrimSuffix(filepath.Clean(args[0]), ".snag") + ".html"
			}
			if err := writePage(file, v); err != nil {
				return err
			}
			fmt.Println(file)
			return nil
		},
	}
	cmd.Flags().StringVar(&baseline, "baseline", "", "compare with this recording of a good time or a good host")
	cmd.Flags().StringVar(&file, "html", "", "write to this file (default DIR.html; - is standard output)")
	registerShared(cmd)
	return cmd
}

// writePage puts the page into a file, whole or not at all: what is passed
// around after an incident must not be half of it.
func writePage(file string, v *verdict.Verdict) error {
	var b bytes.Buffer
	if err := page.WriteHTML(&b, v); err != nil {
		return err
	}
	if err := private.Write(file, b.Bytes()); err != nil {
		return fmt.Errorf("write the page to %s: %w: name a file in a folder that is there and may be written to", file, err)
	}
	return nil
}
