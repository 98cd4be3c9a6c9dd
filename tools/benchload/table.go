package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"snag/tools/benchhost"
)

// table is the result in Markdown. A ratio is that of one round; the table has the median of the ratios and their
// range.
func table(r *report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s, %s.\n\n", r.Began.Format(time.DateOnly), r.Machine)
	for _, tool := range slices.Sorted(maps.Keys(r.Versions)) {
		fmt.Fprintf(&b, "- %s: %s\n", tool, r.Versions[tool])
	}
	b.WriteString("\n| what | figure | snag | peer | its figure | ratio (range) | goal | |\n|---|---|---|---|---|---|---|---|\n")
	for _, g := range goals {
		if _, measured := r.Contests[g.contest]; measured || r.Missing[g.contest] != "" {
			fmt.Fprintln(&b, g.row(r))
		}
	}
	b.WriteString("\n| what snag load is to say | right in | seen | goal | |\n|---|---|---|---|---|\n")
	for _, c := range checks {
		if _, done := r.Checks[c.name]; done || r.Missing[c.name] != "" {
			fmt.Fprintln(&b, c.row(r))
		}
	}
	if len(r.Missing) > 0 {
		b.WriteString("\nNot measured:\n")
		for _, what := range slices.Sorted(maps.Keys(r.Missing)) {
			fmt.Fprintf(&b, "- %s: %s\n", what, strings.ReplaceAll(r.Missing[what], "\n", " "))
		}
	}
	return b.String()
}

func (g goal) row(r *report) string {
	head := fmt.Sprintf("| %s | %s |", g.contest, g.figure)
	own := column(r.Contests[g.contest]["snag"], g.figure)
	if len(own) == 0 {
		return head + " – | | | | " + g.text() + " | not measured |"
	}
	mine := fmt.Sprintf(" %.4g |", benchhost.Median(own))
	if g.peer == "" {
		return head + mine + fmt.Sprintf(" | | (%.3g–%.3g) | %s | %s |", slices.Min(own), slices.Max(own), g.text(), g.verdict(benchhost.Median(own)))
	}
	theirs := column(r.Contests[g.contest][g.peer], g.figure)
	if len(theirs) == 0 {
		return head + mine + " " + g.peer + " | – | – | " + g.text() + " | not measured |"
	}
	var ratios []float64
	for i := range min(len(own), len(theirs)) {
		ratios = append(ratios, own[i]/theirs[i])
	}
	return head + mine + fmt.Sprintf(" %s | %.4g | %.3g (%.3g–%.3g) | %s | %s |", g.peer, benchhost.Median(theirs), benchhost.Median(ratios), slices.Min(ratios), slices.Max(ratios), g.text(), g.verdict(benchhost.Median(ratios)))
}

func column(rounds []figures, name string) (out []float64) {
	for _, f := range rounds {
		if v, has := f[name]; has {
			out = append(out, v)
		}
	}
	return out
}

func (g goal) text() string {
	switch {
	case g.most > 0:
		return fmt.Sprintf("≤ %.3g", g.most)
	case g.least > 0:
		return fmt.Sprintf("≥ %.3g", g.least)
	}
	return "none"
}

func (g goal) verdict(v float64) string {
	switch {
	case g.most == 0 && g.least == 0:
		return ""
	case g.most > 0 && v > g.most, g.least > 0 && v < g.least:
		return "missed"
	}
	return "within"
}

// row is within only where every round was right.
func (c check) row(r *report) string {
	all := r.Checks[c.name]
	if len(all) == 0 {
		return fmt.Sprintf("| %s | – | | %s | not measured |", c.name, c.is)
	}
	right := 0
	for _, v := range all {
		if c.right(v) {
			right++
		}
	}
	verdict := "within"
	if right < len(all) {
		verdict = "missed"
	}
	seen := ""
	if c.within > 0 {
		var values []float64
		for _, v := range all {
			values = append(values, v.Value)
		}
		seen = fmt.Sprintf("%.3g–%.3g of it", slices.Min(values), slices.Max(values))
	}
	return fmt.Sprintf("| %s | %d of %d | %s | %s | %s |", c.name, right, len(all), seen, c.is, verdict)
}
