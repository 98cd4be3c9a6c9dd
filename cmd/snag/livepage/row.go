package livepage

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"snag/probes/streams/figures"
	"snag/probes/streams/past"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
	"snag/recording"
	"snag/report/page/streams"
)

// taken is what is copied of a stream while the watch stands still.
type taken struct {
	row     watch.Row
	t       []recording.Time
	fps     []float64
	events  []figures.Event
	event   func(figures.Event) recording.Event
	watched map[int64]bool // seconds in which it was, of a stream at several places
}

func take(r watch.Remembered) taken {
	t := taken{row: r.Row, event: r.Event, events: slices.Clone(r.Past.Events())}
	r.Past.Seconds(past.FPS, func(end recording.Time, v float64) { t.t, t.fps = append(t.t, end), append(t.fps, v) })
	if r.Layer == "" {
		return t
	}
	t.watched = map[int64]bool{}
	for _, p := range r.Past.Points() {
		if !math.IsNaN(p.Low[past.Gap]) {
			t.watched[int64(p.T/1e9)] = true
		}
	}
	return t
}

// input is the stream as the page takes it.
func (t taken) input() streams.Input {
	in := streams.Input{
		Row: rowOf(&t.row), State: streams.State(t.row.State), Since: t.row.Since, Rate: t.row.Params[stream.Video].FPS, T: t.t, FPS: t.fps,
		Watched: func(at recording.Time) bool { return t.watched[int64(at/1e9)] || t.watched[int64(at/1e9)+1] },
	}
	for _, e := range t.events {
		in.Events = append(in.Events, t.event(e))
	}
	return in
}

func rowOf(r *watch.Row) streams.Row {
	row := streams.Row{
		Name: r.Name, Layer: r.Layer, Side: r.Side, Protocol: r.Protocol, URL: r.Shown, Why: r.Why,
		Codec: codec(r.Params), Size: size(r.Params[stream.Video]),
	}
	if r.Figure && r.Second.Total.Connected > 0 {
		n, frozen := int(min(r.Freezes, math.MaxInt32)), math.Round(r.Second.Total.Frozen*10)/10
		row.Freezes, row.Frozen = &n, &frozen
	}
	if !r.Measured() {
		return row
	}
	s := &r.Second
	rate := s.Video.FPS
	if s.Main == stream.Audio {
		rate = s.Audio.FPS
	}
	row.FPS = number(rate)
	v, a := s.Video.Bitrate, s.Audio.Bitrate
	row.Kbps = number(figures.Value{V: (v.V + a.V) / 1000, OK: v.OK || a.OK})
	row.GOP = number(figures.Value{V: s.GOP.Seconds, OK: s.GOP.Frames > 0})
	row.Drift, row.Skew = number(s.Drift), number(s.Skew)
	return row
}

func number(v figures.Value) *float64 {
	if !v.OK {
		return nil
	}
	return streams.Measured(v.V)
}

func codec(p [2]stream.Params) string {
	var all []string
	for _, track := range p {
		if track.Codec != "" {
			all = append(all, track.Codec)
		}
	}
	return strings.Join(all, " + ")
}

func size(p stream.Params) string {
	if p.Width <= 0 || p.Height <= 0 {
		return ""
	}
	return strconv.Itoa(p.Width) + "×" + strconv.Itoa(p.Height)
}

// cost is what snag itself takes, and whether its figures are in doubt.
func cost(o watch.Own) string {
	text := fmt.Sprintf("snag itself: %d MiB, late by %d ms at the most", o.Memory>>20, o.Worst.Milliseconds())
	if o.CPU.OK {
		text = fmt.Sprintf("snag itself: %.1f %% of a CPU, %d MiB, late by %d ms at the most", 100*o.CPU.V, o.Memory>>20, o.Worst.Milliseconds())
	}
	return text
}
