package main

import (
	"fmt"
	"strings"
)

// tools in the order of the table.
var tools = []string{"snag", "below", "atop", "sysstat", "netdata", "node_exporter", "perf"}

// incidentTable has a row an incident and a column a tool: whether it sees the symptom,
// names the guilty one, and says the cause.
func incidentTable(r *report) string {
	var b strings.Builder
	b.WriteString("| incident (guilty) |")
	for _, t := range tools {
		fmt.Fprintf(&b, " %s |", t)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(tools)) + "\n")
	sums := map[string][3]int{}
	for _, in := range r.Incidents {
		fmt.Fprintf(&b, "| %s (%s) |", in.Title, in.Guilty)
		for _, t := range tools {
			s, ok := in.Answers[t]
			if !ok {
				b.WriteString(" – |")
				continue
			}
			b.WriteString(" " + s.cell() + " |")
			sum := sums[t]
			for i, yes := range []bool{s.Visible, s.Guilty, s.Cause} {
				if yes {
					sum[i]++
				}
			}
			sums[t] = sum
		}
		b.WriteString("\n")
	}
	b.WriteString("| visible / guilty / cause |")
	for _, t := range tools {
		fmt.Fprintf(&b, " %d / %d / %d |", sums[t][0], sums[t][1], sums[t][2])
	}
	return b.String() + "\n"
}

func (s score) cell() string {
	var words []string
	for _, w := range []struct {
		word string
		yes  bool
	}{{"visible", s.Visible}, {"guilty", s.Guilty}, {"cause", s.Cause}} {
		if w.yes {
			words = append(words, w.word)
		}
	}
	text := strings.Join(words, ", ")
	if text == "" {
		text = "nothing"
	}
	if s.Others > 0 {
		text += fmt.Sprintf(" (%d other said)", s.Others)
	}
	return text
}
