package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/shown"
	"snag/internal/units"
	"snag/recording/leftover"
)

// leastAge: a recording is read for a while after it was written.
const leastAge = time.Minute

type cleanFlags struct {
	older  string
	dir    string
	dryRun bool
	json   bool
}

func cleanCommand() *cobra.Command {
	var f cleanFlags
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "List and remove old recordings that snag left in the temporary directory",
		Long: `snag find without --out keeps its recording in a new folder of the temporary directory,
/tmp/snag-DATE-TIME-NUMBER. This lists these folders and removes those in which nothing
was written for --older-than. --dry-run removes none.

A folder is removed only if its name is one that snag makes, it is yours, and it holds
nothing but a recording, whole or cut off. It stays while it is written, or if it holds
a file of another kind, a link or something of another user. The recordings of snag
record (its --ring), of baselines and of --out are never looked at.`,
		Example: `  snag clean --dry-run
  sudo snag clean --older-than 1d`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return clean(cmd.OutOrStdout(), f, time.Now()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.older, "older-than", "7d", "remove those in which nothing was written for this long, as 12h or 7d")
	flags.StringVar(&f.dir, "dir", os.TempDir(), "look in this folder")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "only list them")
	flags.BoolVar(&f.json, "json", false, "an object of JSON a line: path, age_seconds, bytes, removed, and why it stays")
	return cmd
}

// cleaned is what became of one folder; its JSON.
type cleaned struct {
	Path    string  `json:"path"`
	Age     float64 `json:"age_seconds"` // since it was written
	Bytes   int64   `json:"bytes"`
	Removed bool    `json:"removed"`
	Stays   string  `json:"stays,omitempty"` // why it was not removed
	old     bool
}

func clean(out io.Writer, f cleanFlags, now time.Time) error {
	least, err := parseAge(f.older)
	if err != nil {
		return err
	}
	all, err := leftover.In(f.dir, now)
	if err != nil {
		return err
	}
	var done []cleaned
	for _, l := range all {
		done = append(done, cleanOne(l, least, f.dryRun))
	}
	if f.json {
		enc := json.NewEncoder(shown.JSON(out))
		enc.SetEscapeHTML(false)
		for _, c := range done {
			if err := enc.Encode(c); err != nil {
				return err
			}
		}
		return nil
	}
	return printCleaned(out, done, f)
}

// cleanOne removes a folder that is old and may go.
func cleanOne(l leftover.Leftover, least time.Duration, dryRun bool) cleaned {
	c := cleaned{Path: l.Path, Age: l.Age.Seconds(), Bytes: l.Bytes, Stays: l.Stays, old: l.Age >= least}
	switch {
	case c.Stays != "":
	case !c.old:
		c.Stays = "it is not as old as --older-than"
	case dryRun:
		c.Stays = "--dry-run"
	default:
		if err := leftover.Remove(l); err != nil {
			c.Stays = err.Error()
			return c
		}
		c.Removed = true
	}
	return c
}

func printCleaned(out io.Writer, all []cleaned, f cleanFlags) error {
	gone, stay, bytes := 0, 0, int64(0)
	for _, c := range all {
		word, why := "stays", ": "+c.Stays
		switch {
		case c.Removed:
			word, why = "removed", ""
		case c.Stays == "--dry-run":
			word, why = "would be removed", ""
		}
		if why == "" {
			gone, bytes = gone+1, bytes+c.Bytes
		} else {
			stay++
		}
		if _, err := io.WriteString(out, shown.Sprintf("%-16s  %s  %s old, %s%s\n", word, c.Path, age(time.Duration(c.Age*1e9)), units.Bytes(float64(c.Bytes)), why)); err != nil {
			return err
		}
	}
	verb := "removed"
	if f.dryRun {
		verb = "would be removed"
	}
	_, err := fmt.Fprintf(out, "%s in %s: %d %s (%s), %d stay\n", units.Plural(len(all), "recording"), shown.Text(f.dir), gone, verb, units.Bytes(float64(bytes)), stay)
	return err
}

// age is a time in the largest unit that it has one of.
func age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// parseAge reads an age in Go's units or in days.
func parseAge(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		d = time.Duration(n * 24 * float64(time.Hour))
		if n < 0 || n > 36500 {
			err = strconv.ErrRange
		}
	}
	if err != nil {
		return 0, cli.Usage("--older-than %s: it is not a length of time: write 12h or 7d", text)
	}
	if d < leastAge {
		return 0, cli.Usage("--older-than %s: at least %s: a recording is read for a while after it was written", text, leastAge)
	}
	return d, nil
}
