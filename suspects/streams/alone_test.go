package streams

import (
	"testing"

	"snag/recording"
	"snag/scene"
)

func TestTheNextMeasurementIsOnTheHostThatSends(t *testing.T) {
	for _, c := range []struct{ url, remote, want string }{
		{"rtmp://origin.example/live/x", "10.0.0.2:1935", "origin.example"},
		{"rtmp://10.0.0.2:1936/live/x?key=…", "10.0.0.2:1936", "10.0.0.2"},
		{"rtsp://[2001:db8::5]:8554/door", "", "2001:db8::5"},
		{"srt://h:9000?streamid=x", "", "h"},
		{"udp://239.1.2.3:5000", "10.0.0.7:40000", "10.0.0.7"},
		{"ps+udp://:30000", "10.0.0.8:5060", "10.0.0.8"},
		{"udp://239.1.2.3:5000", "", "the host that sends it"},
		{"", "", "the host that sends it"},
	} {
		st := &scene.Stream{Row: recording.Stream{URL: c.url, Remote: c.remote}}
		if got := nextHost(st); got != c.want {
			t.Errorf("%s from %q: %q, want %q", c.url, c.remote, got, c.want)
		}
	}
}

func TestRhythm(t *testing.T) {
	second := recording.Time(1e9)
	of := func(frames, bytes []float64) rhythm {
		r := &recording.Recording{Manifest: recording.Manifest{End: 20 * second}}
		series := func(name string, grows []float64) {
			s := recording.Series{Name: name, Labels: recording.Labels{"stream": "x", "kind": "video"}}
			sum := 0.0
			for i, v := range grows {
				sum += v
				s.Points = append(s.Points, recording.Point{T: recording.Time(i) * second, V: sum})
			}
			r.Series = append(r.Series, s)
		}
		media := make([]float64, len(frames))
		for i, n := range frames {
			media[i] = n / 25
		}
		series("snag_stream_bytes_total", bytes) // series are in the order of their names
		series("snag_stream_frames_total", frames)
		series("snag_stream_media_seconds_total", media)
		f := &faulty{stream: &scene.Stream{Row: recording.Stream{Name: "x"}}, suffered: suffered{slow: true}}
		return f.rhythm(r)
	}
	// As recorded of ffmpeg -readrate 0.8, and of a shaper.
	if h := of([]float64{0, 15, 20, 20, 20, 20}, []float64{0, 76785, 98589, 103810, 92296, 97543}); h.byFrames() {
		t.Errorf("the first second held 15 frames: %s", h)
	}
	if h := of([]float64{0, 20, 20, 20, 20, 20}, []float64{0, 98589, 103810, 92296, 97543, 105489}); !h.byFrames() || h.seconds != 5 {
		t.Errorf("%+v", h)
	}
	if h := of([]float64{0, 17, 16, 16, 19, 16}, []float64{0, 81388, 81328, 82174, 87814, 78945}); h.byFrames() || h.seconds != 5 {
		t.Errorf("a link that carries so many bytes: %+v", h)
	}
	if h := of([]float64{0, 20, 20, 20, 20, 20}, []float64{0, 100000, 100000, 100100, 100000, 100000}); h.byFrames() {
		t.Errorf("both are even: %+v", h)
	}
	if h := of([]float64{0, 25, 25, 25, 25, 25}, []float64{0, 98589, 103810, 92296, 97543, 105489}); h.seconds != 0 {
		t.Errorf("it is not slow: %+v", h)
	}
}
