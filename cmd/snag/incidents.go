package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/shown"
	"snag/recorder"
)

func incidentsCommand() *cobra.Command {
	var ring string
	var asJSON bool
	var stored storedFlags
	cmd := &cobra.Command{
		Use:   "incidents",
		Short: "List when clients or streams were affected, and the culprit",
		Long: `List the incidents that snag record found: when clients or streams were affected, for
how long, and the culprit. Incidents with the same culprits share a line.

With --from it lists those of all hosts that a folder or an object store has (snag record
--incidents-to).`,
		Example: `  sudo snag incidents
  sudo snag incidents show 7
  snag incidents --from s3://BUCKET/PREFIX
  snag incidents show edge-7/20261128T141728Z-7 --from s3://BUCKET/PREFIX`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := stored.store()
			if err != nil {
				return err
			}
			if store != nil {
				return stored.list(cmd.Context(), os.Stdout, store, asJSON)
			}
			return listIncidents(os.Stdout, recorder.Ring{Dir: ring}, asJSON)
		},
	}
	cmd.PersistentFlags().StringVar(&ring, "ring", recorder.Default, "the folder of snag record's ring")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, one incident a line")
	stored.register(cmd)
	cmd.AddCommand(showIncidentCommand(&ring, &stored))
	return cmd
}

func listIncidents(w io.Writer, ring recorder.Ring, asJSON bool) error {
	all, err := ring.Incidents()
	if err != nil && len(all) == 0 {
		return err
	}
	if err != nil {
		fmt.Fprintf(shown.To(os.Stderr), "snag: %v\n", err)
	}
	if asJSON {
		enc := json.NewEncoder(w)
		for _, i := range all {
			if err := enc.Encode(i); err != nil {
				return err
			}
		}
		return nil
	}
	out := shown.To(w)
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "no incidents while snag record ran")
		return err
	}
	fmt.Fprintf(out, "%-4s %-16s %-7s %-6s %s\n", "NO", "BEGAN", "LASTED", "TIMES", "WHAT")
	for _, g := range grouped(all) {
		last := g[len(g)-1]
		fmt.Fprintf(out, "%-4d %-16s %-7s %-6d %s\n", last.ID, last.Start.Local().Format("Jan _2 15:04:05"), lasted(last), len(g), cutTo(whatOf(last), columns()-37))
	}
	return nil
}

// grouped groups incidents by GroupKey, ordered by the latest incident of each group, newest first.
func grouped(all []recorder.Incident) [][]recorder.Incident {
	return groupedBy(all, recorder.Incident.GroupKey)
}

func lasted(i recorder.Incident) string {
	if i.End.IsZero() {
		return "–"
	}
	return i.End.Sub(i.Start).Round(time.Second).String()
}

// whatOf is the first culprit of an incident, or its first symptom.
func whatOf(i recorder.Incident) string {
	switch {
	case len(i.Culprits) > 0:
		return i.Culprits[0].Name + ": " + i.Culprits[0].Text
	case len(i.Symptoms) > 0:
		return "no culprit proved; " + i.Symptoms[0].Name + ": " + i.Symptoms[0].Text
	}
	return cmp.Or(i.Noticed, i.Standing)
}

// cutTo truncates a text.
func cutTo(text string, most int) string {
	runes := []rune(text)
	if most < 20 || len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

func showIncidentCommand(ring *string, stored *storedFlags) *cobra.Command {
	var f showFlags
	var keep string
	cmd := &cobra.Command{
		Use:   "show N",
		Short: "Show the verdict of one incident",
		Long: `Show the verdict of one incident, from its recording. N is its number, as snag incidents
lists it; with --from HOST/TIME-N, as snag incidents --from lists it.`,
		Example: `  sudo snag incidents show 7`,
		Args:    cli.UsageArgs(cobra.ExactArgs(1), "the number of an incident, as snag incidents lists it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := stored.store()
			if err != nil {
				return err
			}
			if store != nil {
				return stored.show(cmd.Context(), store, args[0], keep, f)
			}
			if keep != "" {
				return cli.Usage("--out: with --from; of this host's ring snag incidents show names the file")
			}
			n, err := strconv.Atoi(args[0])
			if err != nil || n < 1 {
				return cli.Usage("incident %s: a number, as snag incidents lists it", args[0])
			}
			r := recorder.Ring{Dir: *ring}
			file := r.Recording(n)
			if _, err := os.Stat(file); err != nil {
				return fmt.Errorf("show incident %d: there is none in %s: snag incidents lists them", n, *ring)
			}
			if i, err := r.Incident(n); err == nil && i.Looked {
				file = r.Look(n)
				fmt.Fprintf(shown.To(os.Stderr), "snag: the closer look at incident %d; snag judge %s judges what was recorded all the time\n", n, r.Recording(n))
			}
			f.own = true
			return judgeAndShow(cmd.Context(), file, f)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVarP(&keep, "out", "o", "", "of a store: keep the files of the incident in this folder")
	return cmd
}
