package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/tools/benchhost"
)

// row of the table: the median of each figure over the rounds.
type row struct {
	name, note        string
	cpu, memory, disk float64
	least, most       float64 // of the CPU
	missing           bool
}

// costRows joins the rounds. What runs at a longer interval by default than could be
// measured has a row of its own before it, computed from what one sample costs.
func costRows(all []cost) (rows []row) {
	var names []string
	by := map[string][]cost{}
	for _, c := range all {
		if by[c.Name] == nil {
			names = append(names, c.Name)
		}
		by[c.Name] = append(by[c.Name], c)
	}
	for _, name := range names {
		rounds, one := by[name], by[name][0]
		if one.Missing != "" {
			rows = append(rows, row{name: name, note: "did not run: " + one.Missing, missing: true})
			continue
		}
		var cpu []float64
		for _, c := range rounds {
			cpu = append(cpu, c.cpu())
		}
		r := row{name: name, note: joined(parts(rounds), one.Note), cpu: benchhost.Median(cpu), least: slices.Min(cpu), most: slices.Max(cpu),
			memory: medianOf(rounds, cost.memory), disk: medianOf(rounds, func(c cost) float64 { return c.Disk })}
		if one.Usual > 0 {
			by := float64(one.Usual) / float64(one.Interval)
			u := r
			u.name = strings.Replace(name, short(one.Interval), short(one.Usual), 1)
			u.note = joined(u.note, "computed from the row below")
			u.cpu, u.least, u.most, u.disk = r.cpu/by, r.least/by, r.most/by, r.disk/by
			rows = append(rows, u)
		}
		rows = append(rows, r)
	}
	return rows
}

// parts says what each program of a recorder took, where there are several.
func parts(rounds []cost) string {
	if len(rounds[0].Parts) < 2 {
		return ""
	}
	var out []string
	for i, p := range rounds[0].Parts {
		out = append(out, fmt.Sprintf("%s %.2f %% and %.0f MB", p.Name,
			100*medianOf(rounds, func(c cost) float64 { return c.Parts[i].CPU }), medianOf(rounds, func(c cost) float64 { return float64(c.Parts[i].Memory) })/1e6))
	}
	return strings.Join(out, ", ")
}

// joined are the notes that are not empty.
func joined(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "; ")
}

func medianOf(all []cost, of func(cost) float64) float64 {
	var v []float64
	for _, c := range all {
		v = append(v, of(c))
	}
	return benchhost.Median(v)
}

// costTable is the table of docs/record.md. Ratios are to the row of snag.
func costTable(r *costReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s, %s; after each window%s.\n\n", r.Began.Format(time.DateOnly), r.Machine, loads(r.Cost))
	for _, tool := range slices.Sorted(maps.Keys(r.Versions)) {
		fmt.Fprintf(&b, "- %s: %s\n", tool, r.Versions[tool])
	}
	b.WriteString("\n| recorder | CPU, % of a core (range) | × snag | memory (PSS), MB | × snag | disk, MB per hour | × snag | |\n|---|---|---|---|---|---|---|---|\n")
	rows := costRows(r.Cost)
	var snag row
	if i := slices.IndexFunc(rows, func(r row) bool { return strings.HasPrefix(r.name, "snag") }); i >= 0 {
		snag = rows[i]
	}
	for _, w := range rows {
		if w.missing {
			fmt.Fprintf(&b, "| %s | – | – | – | – | – | – | %s |\n", w.name, w.note)
			continue
		}
		fmt.Fprintf(&b, "| %s | %.3g (%.3g–%.3g) | %s | %.1f | %s | %.3g | %s | %s |\n", w.name, 100*w.cpu, 100*w.least, 100*w.most,
			ratio(w.cpu, snag.cpu), w.memory/1e6, ratio(w.memory, snag.memory), w.disk/1e6, ratio(w.disk, snag.disk), w.note)
	}
	return b.String()
}

func ratio(v, snag float64) string {
	if snag == 0 { // snag was not measured
		return "–"
	}
	return fmt.Sprintf("%.2g", v/snag)
}

// loads are the machine's load averages after the windows.
func loads(all []cost) string {
	var v []float64
	for _, c := range all {
		if l, err := strconv.ParseFloat(c.Load, 64); err == nil {
			v = append(v, l)
		}
	}
	if len(v) == 0 {
		return " not measured"
	}
	return fmt.Sprintf(" %.2f to %.2f", slices.Min(v), slices.Max(v))
}
