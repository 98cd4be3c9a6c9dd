package page

import (
	"sort"
	"strings"

	"snag/recording"
)

// gauges are series that are values, not counts, though their name could be a
// count's. node_exporter ends its counters with _total, but for the netstat ones,
// which carry the kernel's names.
var gauges = map[string]bool{"node_netstat_Tcp_CurrEstab": true, "node_netstat_Tcp_MaxConn": true}

func isCounter(name string) bool {
	return strings.HasSuffix(name, "_total") || strings.HasPrefix(name, "node_netstat_") && !gauges[name]
}

// unitOf is the unit of a sample as it is drawn: a count becomes a rate.
func unitOf(name string) string {
	stem := strings.TrimSuffix(name, "_total")
	unit := ""
	switch {
	case strings.HasSuffix(stem, "_seconds"):
		unit = "s"
	case strings.HasSuffix(stem, "bytes"), strings.HasSuffix(name, "_backlog"):
		unit = "bytes"
	case strings.HasSuffix(stem, "_ratio"):
		unit = "ratio"
	}
	if isCounter(name) {
		if unit == "s" {
			return "ratio" // seconds per second
		}
		return unit + "/s"
	}
	return unit
}

// samples draws the series that a selector of samples stands for.
func (b *builder) samples(s selector) []Line {
	var out []Line
	for _, series := range b.r.Select(s.name) {
		if !s.selects(series) {
			continue
		}
		line := Line{Label: rest(series, s)}
		points := series.Points
		if isCounter(s.name) {
			points = rates(series)
		}
		for _, p := range points {
			line.T = append(line.T, b.since(p.T))
			line.V = append(line.V, round(p.V))
		}
		if len(line.T) > 0 {
			out = append(out, line)
		}
	}
	return out
}

// shortest is how far apart two samples must lie for a rate between them: the
// last look of a recording comes just after a tick, and what moved between the
// two tells nothing.
const shortest = 0.25 // s

// rates is the growth of a counter a second, at the later sample's time; the
// first holds from the first sample on.
func rates(s recording.Series) []recording.Point {
	var out []recording.Point
	from, grown := 0, 0.0
	for i := 1; i < len(s.Points); i++ {
		step := s.Points[i].V - s.Points[i-1].V
		if step < 0 { // the counter began again
			step = s.Points[i].V
		}
		grown += step
		span := s.Points[i].T.Sub(s.Points[from].T).Seconds()
		if span < shortest {
			continue
		}
		if len(out) == 0 {
			out = append(out, recording.Point{T: s.Points[from].T, V: grown / span})
		}
		out = append(out, recording.Point{T: s.Points[i].T, V: grown / span})
		from, grown = i, 0
	}
	return out
}

// rest names a series by the labels that its selector leaves open.
func rest(series recording.Series, s selector) string {
	var parts []string
	for k, v := range series.Labels {
		if _, asked := s.labels[k]; !asked {
			parts = append(parts, k+" "+v)
		}
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}
