package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/recording"
	spans "snag/recording/intervals"
	"snag/report/profile"
)

// inFiles prints what files other than captures hold, whether or not something is wrong: the calls
// of a trace, the functions of a profile, the pauses of a JVM.
func (p *page) inFiles(r *recording.Recording) {
	if !p.files {
		return
	}
	most := p.mostRows()
	p.traced(r, most)
	p.profiled(r, most)
	p.stopped(r)
}

func (p *page) traced(r *recording.Recording, most int) {
	if len(r.Calls) == 0 {
		return
	}
	c := SumCalls(r)
	n, failed, inside := uint64(0), uint64(0), 0.0
	for _, t := range c.Calls {
		n, failed, inside = n+t.N, failed+t.Failed, inside+t.Seconds
	}
	p.section("in the trace", fmt.Sprintf("%s of %s, %s in all; %s failed", units.Plural(int(n), "call"), counted(len(c.Processes), "process", "processes"), units.Lasting(inside), units.Count(float64(failed))))
	rows := [][]string{{"call", "calls", "failed", "in all", "longest"}}
	for _, t := range c.Calls[:min(most, len(c.Calls))] {
		rows = append(rows, []string{t.Call, units.Count(float64(t.N)), units.Count(float64(t.Failed)), units.Lasting(t.Seconds), units.Lasting(t.Max)})
	}
	p.table(rows, []int{24, 11, 11, 11, 11})
	p.add(p.dim("  the rest: snag syscalls --read DIR, with the recording's folder"))
}

func (p *page) profiled(r *recording.Recording, most int) {
	if len(r.OnCPU) == 0 {
		return
	}
	lines, total, samples, event := profile.Heaviest(r, most)
	sum := units.Plural(int(samples), "sample")
	if event != "" {
		sum += " of " + event
	}
	p.section("in the profile", sum)
	rows := [][]string{{"function", "of", "itself", "in all"}}
	for _, l := range lines {
		rows = append(rows, []string{l.Function, path.Base(cmp.Or(l.Object, none)), units.Percent(l.Self / max(total, 1e-9)), units.Percent(l.Total / max(total, 1e-9))})
	}
	p.table(rows, []int{40, 20, 9, 9})
	p.add(p.dim("  the rest: snag profile --read DIR, with the recording's folder"))
}

// stopped sums the pauses in a JVM's log. Pauses that overlap count as one.
func (p *page) stopped(r *recording.Recording) {
	var all []recording.Interval
	longest := 0.0
	for i := range r.Events {
		e := &r.Events[i]
		if e.Kind == recording.EventGCPause || e.Kind == recording.EventSafepoint {
			all = append(all, e.Interval())
			longest = max(longest, e.Interval().Length(r.Manifest.End).Seconds())
		}
	}
	if len(all) == 0 {
		return
	}
	all = spans.Merge(all, 0)
	total, of := spans.Seconds(all, r.Manifest.End), r.Length().Seconds()
	p.section("in the GC log", fmt.Sprintf("the JVM was paused %s, for %s of %s (%s); %s at the longest", units.Times(len(all)), units.Lasting(total), units.Lasting(of), units.Percent(total/max(of, 1e-9)), units.Lasting(longest)))
}

// section begins what the files hold of one kind.
func (p *page) section(title, sum string) {
	const width = len("in the capture  ")
	p.gap()
	p.item("", p.bold(fmt.Sprintf("%-*s", width, title)), strings.Repeat(" ", width), p.dim(sum))
}

// table prints rows under a head; the first column takes what room there is.
func (p *page) table(rows [][]string, widths []int) {
	widths = slices.Clone(widths)
	for _, w := range widths {
		widths[0] = min(widths[0], max(12, p.Width-2-w))
	}
	for i, row := range rows {
		line := "  "
		for at, cell := range row {
			line += fmt.Sprintf("%-*s", widths[at], shown.Cut(cell, widths[at]-1))
		}
		if line = shown.Cut(strings.TrimRight(line, " "), p.Width); i == 0 {
			line = p.dim(line)
		}
		p.add(line)
	}
}
