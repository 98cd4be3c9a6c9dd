package page

import (
	"fmt"
	"slices"
	"strings"

	"snag/internal/sorting"
	"snag/report/page/streams"
	"snag/verdict"
)

// hosts draws a recording of several hosts, each by itself: two of them may have the same
// pids and addresses, and rows, series and profiles are put together by these.
func (b *builder) hosts(d *Data, views []verdict.View) {
	d.Scene.Paths, d.Events, d.Charts, d.Flames, d.Tables = []Path{}, []Event{}, []Chart{}, []Flame{}, []Table{}
	var rest []string
	for i, v := range views {
		l := b.limits
		l.Paths -= len(d.Scene.Paths)
		l.Charts -= len(d.Charts)
		l.Events = max(1, b.limits.Events/len(views))
		l.Streams.Rows, l.Streams.Values = max(1, l.Streams.Rows/len(views)), l.Streams.Values/len(views)
		own := &builder{v: v.Verdict, r: v.Recording, s: v.Scene, start: b.start, limits: l}
		var one Data
		own.draw(&one)
		for _, p := range one.Scene.Paths[:min(len(one.Scene.Paths), max(l.Paths, 0))] {
			p.Title = onHost(p.Title, v.Name)
			d.Scene.Paths = append(d.Scene.Paths, p)
		}
		rest = append(rest, v.Name+": "+one.Scene.Rest)
		d.Streams = streams.Join(d.Streams, one.Streams, v.Name)
		for _, e := range one.Events {
			e.Text = onHost(e.Text, v.Name)
			d.Events = append(d.Events, e)
		}
		for _, c := range one.Charts[:min(len(one.Charts), max(l.Charts, 0))] {
			c.ID = fmt.Sprintf("%s@%d", c.ID, i+1) // another host may have the same series
			c.About = onHost(c.About, v.Name)
			d.Charts = append(d.Charts, c)
		}
		for _, f := range one.Flames {
			f.Title = onHost(f.Title, v.Name)
			d.Flames = append(d.Flames, f)
		}
		for _, t := range one.Tables {
			d.Tables = withHost(d.Tables, t, v.Name, b.limits.Rows)
		}
		for _, text := range own.left {
			if text = v.Name + ": " + text; len(b.left) < 4*len(views) {
				b.left = append(b.left, text)
			}
		}
	}
	d.Scene.Rest = strings.Join(rest, "; ")
	sorting.StableBy(d.Events, func(x, y Event) int {
		switch {
		case x.T < y.T:
			return -1
		case x.T > y.T:
			return 1
		}
		return 0
	})
	d.LeftOut = append([]string{}, b.left...)
}

// onHost says of what is drawn whose it is, where its own words do not.
func onHost(text, host string) string {
	if strings.Contains(text, " on "+host) || strings.Contains(text, " in "+host) {
		return text
	}
	return strings.TrimSpace(text + " on " + host)
}

// withHost adds one host's table to those of the others, with a column that says whose
// each row is.
func withHost(all []Table, t Table, host string, most int) []Table {
	for i := range t.Rows {
		t.Rows[i] = append(slices.Clone(t.Rows[i]), host)
	}
	t.Columns = append(slices.Clone(t.Columns), Column{"host", "text"})
	for i := range all {
		if have := &all[i]; have.Name == t.Name && len(have.Columns) == len(t.Columns) {
			have.Total += t.Total
			have.Rows = append(have.Rows, t.Rows[:min(len(t.Rows), max(most-len(have.Rows), 0))]...)
			return all
		}
	}
	return append(all, t)
}
