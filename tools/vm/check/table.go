package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"snag/recording"
)

// printTable prints a line for each measure, as root beside an incident, and for
// each run, with a column for each kernel. Lines begin and end with "|": the table
// is Markdown as it is.
func printTable(w io.Writer, machines []*machine) {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	defer t.Flush()
	line := func(name string, cell func(*machine) string) {
		fmt.Fprintf(t, "| %s", name)
		for _, m := range machines {
			fmt.Fprintf(t, "\t| %s", cell(m))
		}
		fmt.Fprintf(t, "\t|\n")
	}
	line("as root", func(m *machine) string { return m.release })
	line("---", func(*machine) string { return "---" })
	for _, measure := range measures() {
		line("`"+measure+"`", func(m *machine) string {
			c := covered(m.finds[udp].doc, measure)
			if near := covered(m.finds[convoy].doc, measure); closer(measure) && near.State != recording.CoverageOff {
				c = near
			}
			if (c.State == recording.CoverageUnavailable || c.State == recording.CoveragePartial) && c.Cure != "" {
				return c.State + ": " + c.Cure
			}
			return c.State
		})
	}
	for _, run := range []string{quiet, udp, nagle, convoy, nobody} {
		line("find: "+run, func(m *machine) string { return m.finds[run].first() })
	}
	exits := func(what string, of func(*machine) map[string]int) {
		var names []string
		for _, m := range machines {
			names = append(names, slices.Collect(maps.Keys(of(m)))...)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			line(what+": "+name, func(m *machine) string {
				exit, ran := of(m)[name]
				switch {
				case !ran:
					return "not run"
				case exit == 0:
					return "right"
				}
				return fmt.Sprintf("exit %d", exit)
			})
		}
	}
	exits("inside", func(m *machine) map[string]int { return m.inside })
	exits("lab", func(m *machine) map[string]int { return m.lab })
}

// first is the run's exit code and its first culprit.
func (f find) first() string {
	for _, e := range f.doc.Verdict {
		if e.State == "culprit" {
			return fmt.Sprintf("exit %d, %s", f.exit, e.Suspect)
		}
	}
	return fmt.Sprintf("exit %d, no culprit", f.exit)
}
