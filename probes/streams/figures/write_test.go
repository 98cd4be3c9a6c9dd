package figures

import (
	"errors"
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// taken is a Sink in memory.
type taken struct {
	last map[string]float64
	rows []recording.Row
}

func (s *taken) Sample(_ recording.Time, name string, l recording.Labels, v float64) {
	s.last[name+"/"+l["kind"]] = v
}

func (s *taken) Append(row recording.Row) { s.rows = append(s.rows, row) }

func TestWriter(t *testing.T) {
	r := steady(25, 25*30, 50, 46).hold(20*second, 3*second).run(Options{})
	sink := &taken{last: map[string]float64{}}
	w := NewWriter(sink, recording.Anchor{Wall: 5e18}, Place{Name: "live/cam1", URL: "rtmp://h/live/cam1", Protocol: "rtmp", Side: recording.StreamSidePlayer})
	for _, s := range r.seconds {
		w.Second(s, r.meter.Info())
	}
	w.Events(r.events)
	w.Close(start+30*second, r.meter.Info(), errors.New("closed"))

	last := r.seconds[len(r.seconds)-1]
	for name, want := range map[string]float64{
		"snag_stream_frames_total/video": float64(last.Total.Frames[0]),
		"snag_stream_bytes_total/audio":  float64(last.Total.Bytes[1]),
		"snag_stream_keyframes_total/":   15,
		"snag_stream_gop_seconds/":       2,
	} {
		near(t, name, sink.last[name], want, 0.001)
	}
	for _, name := range []string{"snag_stream_packets_lost_total/", "snag_stream_jitter_seconds/", "snag_stream_playlist_age_seconds/"} {
		if v, ok := sink.last[name]; ok {
			t.Errorf("%s is %v: RTMP has none", name, v)
		}
	}
	near(t, "media", sink.last["snag_stream_media_seconds_total/"], 30, 1.5)
	var freezes, streams int
	for _, row := range sink.rows {
		switch v := row.(type) {
		case recording.Stream:
			streams++
			if v.First != recording.Time(5e18+start) || v.Name != "live/cam1" {
				t.Errorf("row %+v", v)
			}
		case recording.Event:
			if v.Kind != recording.EventStreamFreeze {
				continue
			}
			freezes++
			near(t, "freeze", v.Value, 3, 0.05)
			if v.End == 0 || v.Attrs["pattern"] != "held" || v.Attrs["threshold"] != "1.000" || v.Attrs["dts_step"] != "0.040" || v.Subject.Name != "live/cam1" {
				t.Errorf("event %+v", v)
			}
		}
	}
	if freezes != 1 || streams != 2 {
		t.Errorf("%d freezes and %d rows of the stream", freezes, streams)
	}
}

// What still stands when the recording ends has no end.
func TestWriterClosesOpen(t *testing.T) {
	tr := steady(25, 250, 50, 46)
	tr.until += 10 * second
	r := tr.run(Options{})
	sink := &taken{last: map[string]float64{}}
	w := NewWriter(sink, recording.Anchor{}, Place{Name: "a"})
	w.Events(r.events)
	w.Close(tr.until, r.meter.Info(), nil)
	n := 0
	for _, row := range sink.rows {
		if e, ok := row.(recording.Event); ok && e.Kind == recording.EventStreamFreeze {
			n++
			if e.End != 0 || e.Value < 8 {
				t.Errorf("event %+v", e)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d freezes", n)
	}
}

func TestDoubtIsTheObservers(t *testing.T) {
	w := NewWriter(&taken{}, recording.Anchor{}, Place{Name: "a"})
	row := w.Row(Event{Phase: Ended, Kind: recording.EventStreamFreeze, Start: 1, End: 2, Doubt: true, ObserverLate: 2, Of: stream.Video})
	if row.Kind != recording.EventObserverLate || row.Subject.Kind != recording.KindObserver || row.Attrs["stream"] != "a" || row.Value != 2 {
		t.Errorf("row %+v", row)
	}
}
