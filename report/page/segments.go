package page

import (
	"fmt"
	"strings"

	"snag/internal/sorting"
	"snag/recording"
	"snag/report"
	"snag/scene"
)

// captured is one connection of a capture, by its segments.
type captured struct {
	client, server string
	rows           []recording.Segment
	worth          float64 // for how long somebody waited on it, s
}

// mostCaptured connections have charts: three each.
const mostCaptured = 2

// capturedConnections are those whose segments were kept, the one on which somebody waited longest
// first.
func (b *builder) capturedConnections() (out []*captured) {
	by := map[string]*captured{}
	for _, row := range b.r.Segments {
		key := fmt.Sprint(row.Netns, row.Client, row.Server)
		if by[key] == nil {
			by[key] = &captured{client: row.Client, server: row.Server}
			out = append(out, by[key])
		}
		by[key].rows = append(by[key].rows, row)
	}
	for _, f := range b.r.Flows {
		if c := by[fmt.Sprint(f.Netns, f.Client, f.Server)]; c != nil {
			c.worth = max(c.worth, scene.WaitedOn(f))
		}
	}
	for _, c := range out {
		sorting.StableBy(c.rows, func(x, y recording.Segment) int { return int(min(max(x.T.Sub(y.T), -1), 1)) })
	}
	sorting.StableBy(out, func(x, y *captured) int {
		switch {
		case x.worth > y.worth:
			return -1
		case x.worth < y.worth:
			return 1
		}
		return 0
	})
	return out
}

// segmentCharts draw captured connections as tcptrace does: throughput, the window and what is on its
// way, and the sequence numbers over time.
func (b *builder) segmentCharts() (out []Chart) {
	for _, c := range b.capturedConnections() {
		if len(out) >= 3*mostCaptured {
			break
		}
		out = append(out, c.charts(b)...)
	}
	return out
}

// course is what one direction of a connection did: all lines in seconds and bytes.
type course struct {
	sent, again, acked, edge, window, flight, rate Line
}

func (l *Line) add(t float64, v float64) { l.T, l.V = append(l.T, t), append(l.V, v) }

// courseOf follows the direction that carried more.
func (c *captured) courseOf(b *builder) (o course, up bool) {
	var carried [2]uint32
	for _, row := range c.rows {
		i := 0
		if row.Up {
			i = 1
		}
		if row.Len > 0 {
			carried[i] = max(carried[i], row.Seq+uint32(row.Len))
		}
	}
	up = carried[1] > carried[0]
	o = course{sent: Line{Label: "sent"}, again: Line{Label: "sent again"}, acked: Line{Label: "acknowledged"}, edge: Line{Label: "end of the window"}, window: Line{Label: "window"}, flight: Line{Label: "on its way"}}
	var highest, acked float64
	for _, row := range c.rows {
		t := b.since(row.T)
		switch {
		case row.Up == up && row.Len > 0:
			end := float64(row.Seq) + float64(row.Len)
			if row.Again {
				o.again.add(t, end)
			} else {
				highest = max(highest, end)
			}
			o.sent.add(t, highest)
		case row.Up != up && strings.Contains(row.Flags, ".") && !strings.Contains(row.Flags, "R"):
			acked = max(acked, float64(row.Ack))
			o.acked.add(t, acked)
			if row.Window >= 0 {
				o.edge.add(t, float64(row.Ack)+float64(row.Window))
				o.window.add(t, float64(row.Window))
			}
		default:
			continue
		}
		o.flight.add(t, max(0, highest-acked))
	}
	o.rate = rateOf(o.sent)
	return o, up
}

// bins of a connection's time, for its throughput.
const bins = 60

// rateOf is how fast a line rises, by bins of its time.
func rateOf(l Line) (out Line) {
	if len(l.T) < 2 || l.T[len(l.T)-1] <= l.T[0] {
		return out
	}
	from, width := l.T[0], (l.T[len(l.T)-1]-l.T[0])/bins
	at, i := l.V[0], 0
	for n := 1; n <= bins; n++ {
		end, before := from+float64(n)*width, at
		for i < len(l.T) && l.T[i] <= end {
			at = max(at, l.V[i])
			i++
		}
		out.add(round(end), round((at-before)/width))
	}
	return out
}

func (c *captured) charts(b *builder) (out []Chart) {
	o, up := c.courseOf(b)
	about := c.client + " → " + c.server
	if !up {
		about = c.client + " ← " + c.server
	}
	add := func(name, title, unit string, lines ...Line) {
		chart := Chart{ID: fmt.Sprintf("segments.%s{client=%q,server=%q}", name, c.client, c.server), Title: title, About: about, Unit: unit}
		for _, l := range lines {
			if len(l.T) > 0 {
				chart.Lines = append(chart.Lines, thin(l, b.limits.Points))
			}
		}
		if len(chart.Lines) > 0 && len(chart.Lines[0].T) > 1 {
			out = append(out, chart)
		}
	}
	add("rate", "throughput", "bytes/s", o.rate)
	add("window", "window, and what is on its way", "bytes", o.window, o.flight)
	add("seq", "sequence numbers", "bytes", o.sent, o.acked, o.edge, o.again)
	return out
}

// ladder is the longest wait of all, segment by segment.
func (b *builder) ladder() Table {
	t := Table{Name: "ladder", Title: "The longest wait, packet by packet", Columns: []Column{
		{"at", "clock"}, {"after", "seconds"}, {"client", "text"}, {"", "text"}, {"server", "text"},
	}}
	for _, c := range b.capturedConnections() {
		var before recording.Time
		for _, row := range c.rows {
			if !row.Wait {
				continue
			}
			after := any(nil)
			if before != 0 {
				after = round(row.T.Sub(before).Seconds())
			}
			before = row.T
			client, arrow, server := report.SegmentText(row), "→", ""
			if !row.Up {
				client, arrow, server = "", "←", client
			}
			t.Rows = append(t.Rows, []any{b.since(row.T), after, client, arrow, server})
		}
		if len(t.Rows) > 0 {
			t.Note = fmt.Sprintf("%s on the left, %s on the right; after is the time since the packet above", c.client, c.server)
			break
		}
	}
	return t
}
