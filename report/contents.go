package report

import (
	"fmt"
	"io"
	"sort"
	"text/tabwriter"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/recording"
)

// WriteContents prints what is in a recording: host, window, coverage, tables,
// series, events.
func WriteContents(w io.Writer, r *recording.Recording) error {
	m := r.Manifest
	t := tabwriter.NewWriter(shown.To(w), 0, 0, 2, ' ', 0)
	put := func(format string, args ...any) { _, _ = io.WriteString(t, shown.Sprintf(format, args...)) }
	if len(m.Files) == 0 || m.CPUs > 0 {
		put("host\t%s, kernel %s, %s, %d CPUs\n", m.Host, m.Kernel, m.Arch, m.CPUs)
	}
	for _, f := range filesText(m) {
		put("file\t%s: %s\n", f[0], f[1])
	}
	for _, n := range m.Notes {
		put("note\t%s\n", n)
	}
	put("window\t%s to %s UTC, %s\n", m.Start.Wall().Format("2006-01-02 15:04:05.000"), m.End.Wall().Format("15:04:05.000"), units.Seconds(r.Length()))
	put("written by\tsnag %s, layout %d\n", m.Snag, m.Version)
	if name := m.Target.Name(); name != "" {
		put("target\t%s (processes %v)\n", name, m.Target.PIDs)
	}
	if m.Since != 0 {
		put("since\t%s UTC, as reported\n", m.Since.Wall().Format("2006-01-02 15:04:05"))
	}
	for _, s := range m.Symptoms {
		put("reported\t%s\n", s)
	}
	for _, d := range r.Damage {
		put("damage\t%s\n", d)
	}
	put("\nprobe\tstate\tlost\tlate\tcost\twhy\n")
	for _, c := range r.Coverage {
		why := c.Why
		if c.Cure != "" {
			why += " (" + c.Cure + ")"
		}
		put("%s\t%s\t%d\t%.2f s\t%.2f s\t%s\n", c.Probe, c.State, c.Lost, c.Late, c.Cost, why)
	}
	put("\ntable\trows\n")
	for _, name := range recording.TableNames() {
		n := 0
		r.EachRow(name, func(recording.Row) bool { n++; return true })
		if n > 0 && name != "coverage" {
			put("%s\t%s\n", name, units.Count(float64(n)))
		}
	}
	points := 0
	for _, s := range r.Series {
		points += len(s.Points)
	}
	put("samples\t%s in %s series\n", units.Count(float64(points)), units.Count(float64(len(r.Series))))
	for _, line := range events(r.Events) {
		put("events\t%s\n", line)
	}
	return t.Flush()
}

// events counts the events by kind; the rows are in the table.
func events(all []recording.Event) []string {
	n := map[string]int{}
	for _, e := range all {
		n[e.Kind]++
	}
	var out []string
	for kind, count := range n {
		out = append(out, fmt.Sprintf("%d × %s", count, kind))
	}
	sort.Strings(out)
	return out
}
