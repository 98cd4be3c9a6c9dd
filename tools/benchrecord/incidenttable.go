package main

import (
	"fmt"
	"strings"
)

// tools in the order of the table.
var tools = []string{"snag", "below", "atop", "sysstat", "netdata", "node_exporter", "perf", "tshark", "ig"}

// incidentTable is the table of docs/peers.md: a row an incident and a column a tool.
func incidentTable(all []judged) string {
	var b strings.Builder
	b.WriteString("| incident (culprit) | " + strings.Join(tools, " | ") + " |\n|---|" + strings.Repeat("---|", len(tools)) + "\n")
	sums := map[string][culprit + 1]int{}
	for _, in := range all {
		fmt.Fprintf(&b, "| %s (%s) |", in.Title, in.culprit)
		for _, tool := range tools {
			j := in.tools[tool]
			fmt.Fprintf(&b, " %s |", j.cell())
			sum := sums[tool]
			sum[j.outcome]++
			sums[tool] = sum
		}
		b.WriteString("\n")
	}
	b.WriteString("| named the cause / showed the symptom / showed nothing |")
	for _, tool := range tools {
		s := sums[tool]
		fmt.Fprintf(&b, " %d / %d / %d |", s[culprit], s[symptom], s[nothing])
	}
	return b.String() + "\n"
}

func (j judgement) cell() string {
	text := map[outcome]string{notAsked: "did not run", nothing: "shows nothing", symptom: "shows the symptom", culprit: "**named the cause**"}[j.outcome]
	if j.others > 0 {
		text += fmt.Sprintf(" (+%d other)", j.others)
	}
	return text
}

// evidence is what the judgements rest on, for a person to check.
func evidence(all []judged) string {
	var b strings.Builder
	for _, in := range all {
		for _, tool := range tools {
			j := in.tools[tool]
			fmt.Fprintf(&b, "%s, %s: %s\n", in.incident, tool, j.cell())
			for _, line := range j.evidence {
				fmt.Fprintf(&b, "\t%s\n", line)
			}
		}
	}
	return b.String()
}
