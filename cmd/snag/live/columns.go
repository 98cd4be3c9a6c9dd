package live

import (
	"fmt"
	"strings"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
)

// column is one column of the table.
type column struct {
	title string
	width int
	left  bool // aligned left
	cell  func(s *watch.Snapshot, r *watch.Row, width int) string
}

// layout chooses the columns for a width: what tells most stays longest. The name
// and then the curves take what is left.
func layout(width int, transport bool) []column {
	c := []column{
		{"STATE", 14, true, func(s *watch.Snapshot, r *watch.Row, _ int) string { return stateAndTime(s, r) }},
		{"STREAM", 0, true, func(_ *watch.Snapshot, r *watch.Row, _ int) string { return blamed(r) }},
		{"FPS", 3, false, cellFPS},
		{"60 s", 10, true, func(_ *watch.Snapshot, r *watch.Row, w int) string { return spark(r.FPS, w, fullRate(r), least) }},
		{"kb/s", 5, false, cellBitrate},
		{"GOP s", 5, false, cellGOP},
		{"DRIFT", 5, false, func(_ *watch.Snapshot, r *watch.Row, _ int) string { return ifFigures(r, signed(r.Second.Drift)) }},
		{"60 s", 6, true, func(_ *watch.Snapshot, r *watch.Row, w int) string {
			return spark(r.Drift, w, max(1, highest(r.Drift)), most)
		}},
		{"A/V s", 5, false, func(_ *watch.Snapshot, r *watch.Row, _ int) string { return ifFigures(r, signed(r.Second.Skew)) }},
	}
	if transport && width >= 100 {
		c = append(c, column{"LOST", 5, false, cellLost}, column{"JITTER", 6, false, cellJitter})
	}
	if width >= 92 {
		c = append(c, column{"SINCE", 8, true, func(_ *watch.Snapshot, r *watch.Row, _ int) string {
			if r.Since == 0 {
				return ""
			}
			return clock(r.Since)
		}})
	}
	spare := width - margin
	for _, col := range c {
		spare -= col.width + 1
	}
	spare++ // no gap after the last
	name := max(12, spare)
	if spare > 28 { // the curves grow once names fit
		name = max(28, spare-44)
		c[3].width += min(spare-name, 30) * 2 / 3
		c[7].width += min(spare-name, 30) / 3
		name = spare - (c[3].width - 10) - (c[7].width - 6)
	}
	c[1].width = name
	return c
}

// blamed is a stream's name, and behind it who stopped it, where the host's recording
// told that of the trouble that it has now.
func blamed(r *watch.Row) string {
	name := rowName(r)
	if j := r.Judged; j != nil && j.Culprit != "" && r.State.Sick() && j.Onset.Sub(r.Since).Abs() < 2*time.Second {
		return name + " ← " + j.Culprit
	}
	return name
}

// margin is what stands before the first column: the mark of the chosen row.
const margin = 2

func cellFPS(_ *watch.Snapshot, r *watch.Row, _ int) string {
	t := r.Second.Video
	if !t.Present && t.Frames == 0 && r.Second.Audio.Present {
		return "–" // a stream without a picture
	}
	return ifFigures(r, rateOf(t.FPS))
}

// fullRate is the frame rate of a whole bar: what the stream says, else the most that
// it had.
func fullRate(r *watch.Row) float32 {
	if fps := r.Params[stream.Video].FPS; fps > 0 {
		return float32(fps)
	}
	return highest(r.FPS)
}

func cellBitrate(_ *watch.Snapshot, r *watch.Row, _ int) string {
	v, a := r.Second.Video.Bitrate, r.Second.Audio.Bitrate
	return ifFigures(r, kilobits(figures.Value{V: v.V + a.V, OK: v.OK || a.OK}))
}

// cellGOP is the key frame interval; ~ marks one that varies by more than a tenth.
func cellGOP(_ *watch.Snapshot, r *watch.Row, _ int) string {
	g := r.Second.GOP
	if g.Frames == 0 {
		return "–"
	}
	mark := ""
	if g.Varies.OK && g.Varies.V > 0.1*float64(g.Frames) {
		mark = "~"
	}
	return mark + fmt.Sprintf("%.1f", g.Seconds)
}

// cellLost is a dash for what comes over TCP: nobody counts packets there.
func cellLost(_ *watch.Snapshot, r *watch.Row, _ int) string {
	if !counted(r) {
		return "–"
	}
	return fmt.Sprint(lost(r.Second.Transport.Count))
}

func lost(c [stream.Counts]uint64) uint64 {
	return c[stream.PacketsLost] + c[stream.ContinuityErrors] // CaptureLost is snag's loss, not the stream's
}

// counted reports whether a stream's packets are counted.
func counted(r *watch.Row) bool {
	t := &r.Second.Transport
	return t.Gauge[stream.Jitter].OK || t.Gauge[stream.PCRJitter].OK || lost(r.Second.Total.Count)+lost(t.Count) > 0
}

func cellJitter(_ *watch.Snapshot, r *watch.Row, _ int) string {
	for _, g := range []stream.Gauge{stream.Jitter, stream.PCRJitter} {
		if v := r.Second.Transport.Gauge[g]; v.OK {
			return fmt.Sprintf("%.0fms", v.V*1000)
		}
	}
	return "–"
}

// ifFigures is a dash where nothing was measured in the last second.
func ifFigures(r *watch.Row, text string) string {
	if !r.Measured() {
		return "–"
	}
	return text
}

// hasTransport reports whether any stream has figures of packets.
func hasTransport(rows []watch.Row) bool {
	for i := range rows {
		if counted(&rows[i]) {
			return true
		}
	}
	return false
}

func titles(columns []column) string {
	var parts []string
	for _, c := range columns {
		if c.left {
			parts = append(parts, fit(c.title, c.width))
		} else {
			parts = append(parts, right(c.title, c.width))
		}
	}
	return strings.Join(parts, " ")
}

func cells(columns []column, s *watch.Snapshot, r *watch.Row) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		text := c.cell(s, r, c.width)
		if c.left {
			out[i] = fit(text, c.width)
		} else {
			out[i] = right(text, c.width)
		}
	}
	return out
}
