// Package streamstest makes recordings of streams that nobody watched, for tests.
package streamstest

import (
	"fmt"
	"time"

	"snag/recording"
)

// Start of the recording.
const Start = recording.Time(1_795_000_000e9)

// Second is what one second of a made stream has; the rest is as of a healthy one of 25
// frames per second.
type Second struct {
	Frames int
	Moved  float64
	Gap    float64
}

// OneOf is a second with so many frames, whose timestamps moved so far, and whose longest
// time without a frame was gap.
func OneOf(frames int, moved, gap float64) Second { return Second{frames, moved, gap} }

// Healthy is a second of a stream that is well.
var Healthy = Second{25, 1, 0.041}

// Key names a stream.
type Key struct{ Name, Layer string }

// Made is a recording that is made, one stream after the other, a sample each second.
type Made struct{ R *recording.Recording }

// New makes a recording of so many seconds.
func New(length int) *Made {
	return &Made{&recording.Recording{Manifest: recording.Manifest{Version: 1, Host: "h", Start: Start, End: At(float64(length))}}}
}

// At is a time in it.
func At(seconds float64) recording.Time { return Start.Add(time.Duration(seconds * 1e9)) }

// Stream adds a stream whose nth second is given by of.
func (m *Made) Stream(k Key, length int, of func(n int) Second) {
	l := recording.Labels{"stream": k.Name, "side": recording.StreamSidePlayer}
	if k.Layer != "" {
		l["layer"] = k.Layer
	}
	kind := recording.Labels{"kind": "video"}
	for name, v := range l {
		kind[name] = v
	}
	all := map[string]*recording.Series{}
	frames, bytes, media := 0, 0, 0.0
	for n := 1; n <= length; n++ {
		s := of(n)
		frames, bytes, media = frames+s.Frames, bytes+s.Frames*4000, media+s.Moved
		for name, v := range map[string]float64{
			"snag_stream_frames_total": float64(frames), "snag_stream_bytes_total": float64(bytes), "snag_stream_media_seconds_total": media,
			"snag_stream_gap_seconds": s.Gap, "snag_stream_drift_seconds": 0.02, "snag_stream_gop_seconds": 2, "snag_stream_skew_seconds": -0.01,
		} {
			series := all[name]
			if series == nil {
				labels := l
				if name == "snag_stream_frames_total" || name == "snag_stream_bytes_total" {
					labels = kind
				}
				series = &recording.Series{Name: name, Labels: labels}
				all[name] = series
			}
			series.Points = append(series.Points, recording.Point{T: At(float64(n)), V: v})
		}
	}
	for _, s := range all {
		m.R.Series = append(m.R.Series, *s)
	}
	m.Row(recording.Stream{Name: k.Name, Layer: k.Layer, First: At(0.1), Last: At(float64(length) - 0.04)})
	m.Event(k, recording.EventStreamPublished, 0, 0, nil)
	m.Event(k, recording.EventStreamFirstFrame, 0.1, 0.1, nil)
}

// Row adds a row; what is not given is as of a usual stream.
func (m *Made) Row(row recording.Stream) {
	row.T, row.Side, row.Protocol = At(1), recording.StreamSidePlayer, "rtmp"
	row.Video, row.Width, row.Height, row.FPS, row.Threshold = "h264", 1920, 1080, 25, 1
	row.URL = "rtmp://origin/" + row.Name
	m.R.Streams = append(m.R.Streams, row)
}

// Event adds an event; to is its end, 0 where it still goes on.
func (m *Made) Event(k Key, kind string, from, to float64, attrs map[string]string) {
	e := recording.Event{T: At(from), Kind: kind, Value: to - from, Subject: recording.Subject{Kind: recording.KindStream, Name: k.Name}, Attrs: map[string]string{"side": recording.StreamSidePlayer}}
	if to > 0 || from == 0 {
		e.End = At(to)
	}
	if k.Layer != "" {
		e.Attrs["layer"] = k.Layer
	}
	for name, v := range attrs {
		e.Attrs[name] = v
	}
	m.R.Events = append(m.R.Events, e)
}

// Recording is what was made, in order.
func (m *Made) Recording() *recording.Recording {
	recording.SortSeries(m.R.Series)
	return m.R
}

// Cam is the key of a stream: live/cam7.
func Cam(n int) Key { return Key{Name: fmt.Sprintf("live/cam%d", n)} }

// FrozenAt is a stream that has no frame from one second to another, which are all sent
// then at once.
func FrozenAt(from, to int) func(int) Second {
	return func(n int) Second {
		switch {
		case n > from && n < to:
			return Second{0, 0, float64(n - from)}
		case n == to:
			return Second{25 * (to - from), float64(to - from), float64(to - from)}
		}
		return Healthy
	}
}

// Well is a stream that nothing happens to.
func Well(int) Second { return Healthy }
