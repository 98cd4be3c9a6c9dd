package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row of the table: the median of each figure over the rounds.
type row struct {
	name, parts, note string
	cpu, memory, disk float64
	least, most       float64
	computed          bool
	missing           string
}

// costRows joins the rounds. What runs at a longer interval by default than could be
// measured has a row of its own before, of what one sample costs.
func costRows(all []cost) []row {
	var names []string
	by := map[string][]cost{}
	for _, c := range all {
		if by[c.Name] == nil {
			names = append(names, c.Name)
		}
		by[c.Name] = append(by[c.Name], c)
	}
	var rows []row
	for _, name := range names {
		rounds := by[name]
		r := row{name: name, note: rounds[0].Note, missing: rounds[0].Missing}
		if r.missing == "" {
			var cpu []float64
			for _, c := range rounds {
				cpu = append(cpu, c.cpu())
			}
			r.cpu, r.least, r.most = median(cpu), slices.Min(cpu), slices.Max(cpu)
			r.memory = medianOf(rounds, func(c cost) float64 { return float64(c.memory()) })
			r.disk = medianOf(rounds, func(c cost) float64 { return c.Disk })
			r.parts = parts(rounds)
			if usual := rounds[0].Usual; usual > 0 {
				by := float64(usual) / float64(rounds[0].Interval)
				u := r
				u.name, u.computed = strings.Replace(name, "1 s", fmt.Sprintf("%d s", usual/time.Second), 1), true
				u.cpu, u.least, u.most, u.disk = r.cpu/by, r.least/by, r.most/by, r.disk/by
				rows = append(rows, u)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// parts says what of it each program took, where there are several.
func parts(rounds []cost) string {
	if len(rounds[0].CPU) < 2 {
		return ""
	}
	var out []string
	for i, p := range rounds[0].CPU {
		out = append(out, fmt.Sprintf("%s %.2f %% and %.0f MB", p.Name,
			100*medianOf(rounds, func(c cost) float64 { return c.CPU[i].CPU }), medianOf(rounds, func(c cost) float64 { return float64(c.CPU[i].Memory) })/1e6))
	}
	return strings.Join(out, ", ")
}

// loads is the range of the machine's load average at the ends of the windows.
func loads(all []cost) string {
	var v []float64
	for _, c := range all {
		if l, err := strconv.ParseFloat(c.Load, 64); err == nil {
			v = append(v, l)
		}
	}
	if len(v) == 0 {
		return ""
	}
	return fmt.Sprintf(", after each window %.1f to %.1f", slices.Min(v), slices.Max(v))
}

func medianOf(all []cost, of func(cost) float64) float64 {
	var v []float64
	for _, c := range all {
		v = append(v, of(c))
	}
	return median(v)
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// costTable is the table of docs/record.md. Ratios are beside the first row, snag's.
func costTable(r *report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s, %s%s.\n\n", r.Began.Format(time.DateOnly), r.Machine, loads(r.Cost))
	b.WriteString("| recorder | CPU, % of a core (range) | × snag | memory (PSS), MB | × snag | disk, MB per hour | × snag | |\n|---|---|---|---|---|---|---|---|\n")
	rows := costRows(r.Cost)
	snag := slices.IndexFunc(rows, func(r row) bool { return strings.HasPrefix(r.name, "snag") && r.missing == "" })
	times := func(v float64, of func(row) float64) string {
		if snag < 0 || of(rows[snag]) == 0 {
			return "–"
		}
		return fmt.Sprintf("%.2g", v/of(rows[snag]))
	}
	for _, w := range rows {
		if w.missing != "" {
			fmt.Fprintf(&b, "| %s | – | – | – | – | – | – | did not run: %s |\n", w.name, w.missing)
			continue
		}
		notes := []string{}
		for _, n := range []string{w.parts, w.note} {
			if n != "" {
				notes = append(notes, n)
			}
		}
		if w.computed {
			notes = append(notes, "computed from the row at 1 s: the cost of a sample")
		}
		fmt.Fprintf(&b, "| %s | %.3g (%.3g–%.3g) | %s | %.1f | %s | %.3g | %s | %s |\n", w.name, 100*w.cpu, 100*w.least, 100*w.most, times(w.cpu, func(r row) float64 { return r.cpu }),
			w.memory/1e6, times(w.memory, func(r row) float64 { return r.memory }), w.disk/1e6, times(w.disk, func(r row) float64 { return r.disk }), strings.Join(notes, "; "))
	}
	return b.String() + "\n"
}
