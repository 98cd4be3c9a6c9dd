package streams

import (
	"strings"

	"snag/recording"
)

// key tells streams apart: a name is the only one of its layer and side.
type key struct{ name, layer, side string }

// id is the key as text, for links: what is usual is left out.
func (k key) id() string {
	out := k.name
	if k.layer != "" {
		out += " at " + k.layer
	}
	if k.side != "" && k.side != recording.StreamSidePlayer {
		out += " (" + k.side + ")"
	}
	return out
}

// seen is all that a recording has of one stream.
type seen struct {
	key
	row    recording.Stream // the last
	rows   int
	events []recording.Event // observer-late instead of them too, by time
	series map[string][]recording.Point
}

// gather sorts rows, events and samples by stream, in the order in which they came. A
// connection that was called by its address before belongs to the name that it got.
func gather(r *recording.Recording) []*seen {
	g := gathering{by: map[key]*seen{}, was: map[key]key{}}
	for _, row := range r.Streams {
		if k := (key{row.Name, row.Layer, row.Side}); row.Was != "" && row.Was != row.Name {
			g.was[key{row.Was, row.Layer, row.Side}] = k
		}
	}
	for _, row := range r.Streams {
		s := g.of(key{row.Name, row.Layer, row.Side})
		s.row, s.rows = row, s.rows+1
	}
	for _, e := range r.Events {
		name := e.Subject.Name
		if e.Kind == recording.EventObserverLate && e.Attrs["probe"] == "streams" {
			name = e.Attrs["stream"]
		} else if e.Subject.Kind != recording.KindStream || !strings.HasPrefix(e.Kind, "stream-") {
			continue
		}
		s := g.of(key{name, e.Attrs["layer"], e.Attrs["side"]})
		s.events = append(s.events, e)
	}
	for _, name := range sampled {
		for _, series := range r.Select(name) {
			s := g.of(key{series.Labels["stream"], series.Labels["layer"], series.Labels["side"]})
			as := name
			if kind := series.Labels["kind"]; kind != "" {
				as += " " + kind
			}
			if len(series.Points) > len(s.series[as]) { // of two names that became one the longer
				s.series[as] = series.Points
			}
		}
	}
	return g.all
}

type gathering struct {
	by  map[key]*seen
	was map[key]key
	all []*seen
}

func (g *gathering) of(k key) *seen {
	if k.side == "" {
		k.side = recording.StreamSidePlayer
	}
	if now, renamed := g.was[k]; renamed {
		k = now
	}
	s := g.by[k]
	if s == nil {
		s = &seen{key: k, series: map[string][]recording.Point{}}
		g.by[k] = s
		g.all = append(g.all, s)
	}
	return s
}

// sampled are the series that a course is made of.
var sampled = []string{
	"snag_stream_media_seconds_total", "snag_stream_frames_total", "snag_stream_bytes_total", "snag_stream_gap_seconds",
	"snag_stream_drift_seconds", "snag_stream_skew_seconds", "snag_stream_gop_seconds", "snag_stream_packets_lost_total",
	"snag_stream_continuity_errors_total",
}
