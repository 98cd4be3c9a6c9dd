package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
	"snag/report/page"
	"snag/verdict"
)

func reportCommand() *cobra.Command {
	var file, baseline, framesFile string
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
  snag report DIR --frames frames.jsonl
  snag report DIR --html - | ssh desk 'cat > incident.html'`,
		Args: cli.UsageArgs(cobra.ExactArgs(1), "the folder that snag find kept, or a packed recording"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("frames") && framesFile == "" {
				return cli.Usage("--frames: the file has no name")
			}
			if cmd.Flags().Changed("html") && file == "" {
				return cli.Usage("--html: the file has no name")
			}
			if file == "" {
				file = strings.TrimSuffix(filepath.Clean(args[0]), ".snag") + ".html"
			}
			to, err := newPageWriter(file)
			if err != nil {
				return err
			}
			defer to.close()
			written, err := openFrames(framesFile) // before the privileges are given up
			if err != nil {
				return err
			}
			if written != nil {
				defer written.Close()
			}
			bound(args[0])
			s, err := ready(args[0], baseline)
			if err != nil {
				return err
			}
			defer s.close()
			r, err := s.open(args[0])
			if err != nil {
				return err
			}
			if baseline != "" {
				if r.Baseline, err = s.open(baseline); err != nil {
					return fmt.Errorf("--baseline: %w", err)
				}
			}
			frames, err := readFrames(written, r)
			if err != nil {
				return err
			}
			v := verdict.Judge(r)
			if file == "-" {
				return page.WriteHTMLWith(os.Stdout, v, frames)
			}
			if err := to.writeWith(v, frames); err != nil {
				return err
			}
			fmt.Fprintln(shown.To(os.Stdout), file)
			return nil
		},
	}
	cmd.Flags().StringVar(&baseline, "baseline", "", "compare with this recording of a good time or a good host")
	cmd.Flags().StringVar(&framesFile, "frames", "", "draw single frames of streams: the file that snag watch --frames wrote beside --out DIR")
	cmd.Flags().StringVar(&file, "html", "", "write to this file (default DIR.html; - is standard output)")
	registerShared(cmd)
	return cmd
}

// putPage puts the page into a file, whole or not at all: what is passed
// around after an incident must not be half of it.
func putPage(file string, b []byte) error {
	if err := private.Write(file, b); err != nil {
		return fmt.Errorf("write the page to %s: %w: name a file in a folder that is there and may be written to", file, err)
	}
	return nil
}
