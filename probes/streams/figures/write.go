package figures

import (
	"math"
	"strconv"

	"snag/probes/streams/stream"
	"snag/recording"
)

// Place says which stream a Writer's figures are of, and where it was seen; the
// fields are those of recording.Stream.
type Place struct {
	Name, URL, Protocol, Layer, Side string
	Netns                            uint64
	Known                            Known
}

// Known is by what a connection's stream is known that does not name it itself.
type Known struct {
	Was           string // what it was called before
	By            string // itself, frames, address; "" where that was never the question
	Publisher     string // address:port of who sends it; "" where nobody is seen to
	Matched, Runs int    // runs of eight pictures that are the other's, of so many
}

// Writer turns one stream's figures into the samples, rows and events of a
// recording (docs/recording.md, streams.figures). It is for one goroutine.
type Writer struct {
	sink   recording.Sink
	anchor recording.Anchor
	place  Place
	labels recording.Labels
	kind   [2]recording.Labels
	open   map[uint64]Event // told as begun and not as ended: at most four
	row    recording.Stream // as last written
	ring   *standing        // of a recording in pieces; nil: it is one
}

// NewWriter writes to sink; anchor puts the Meter's monotonic times on its clock.
func NewWriter(sink recording.Sink, anchor recording.Anchor, p Place) *Writer {
	labels := func(kind string) recording.Labels {
		l := recording.Labels{"stream": p.Name, "side": p.Side}
		if p.Layer != "" {
			l["layer"] = p.Layer
		}
		if kind != "" {
			l["kind"] = kind
		}
		return l
	}
	return &Writer{
		sink: sink, anchor: anchor, place: p, labels: labels(""), open: map[uint64]Event{},
		kind: [2]recording.Labels{labels(stream.Video.String()), labels(stream.Audio.String())},
	}
}

// Second writes a second's samples, and the stream's row when its first frame came
// or it is made of something else than before.
func (w *Writer) Second(s Second, i Info) {
	t := w.anchor.FromMonotonic(s.T + int64(math.Round(s.Length*float64(second))))
	if s.Total.Connected == 0 {
		return // nobody was let in yet: nothing was measured
	}
	for k := range w.kind {
		if s.Total.Frames[k] > 0 || stream.Kind(k) == s.Main {
			w.sink.Sample(t, "snag_stream_frames_total", w.kind[k], float64(s.Total.Frames[k]))
			w.sink.Sample(t, "snag_stream_bytes_total", w.kind[k], float64(s.Total.Bytes[k]))
		}
	}
	if s.Main == stream.Video {
		w.sink.Sample(t, "snag_stream_keyframes_total", w.labels, float64(s.Total.Keys))
	}
	w.sink.Sample(t, "snag_stream_media_seconds_total", w.labels, s.Total.Media)
	w.gauge(t, "snag_stream_gap_seconds", s.Gap)
	w.gauge(t, "snag_stream_drift_seconds", s.Drift)
	w.gauge(t, "snag_stream_skew_seconds", s.Skew)
	w.gauge(t, "snag_stream_gop_seconds", Value{s.GOP.Seconds, s.GOP.Frames > 0})
	w.gauge(t, "snag_stream_jitter_seconds", s.Transport.Gauge[stream.Jitter])
	w.gauge(t, "snag_stream_playlist_age_seconds", s.Transport.Gauge[stream.PlaylistAge])
	w.gauge(t, "snag_stream_target_seconds", s.Transport.Gauge[stream.TargetDuration])
	w.sink.Sample(t, "snag_stream_reader_late_seconds", w.labels, s.Late)
	for _, c := range counted {
		if n := s.Total.Count[c.count]; n > 0 || c.by[w.place.Protocol] {
			w.sink.Sample(t, c.name, w.labels, float64(n))
		}
	}
	row := w.stream(i)
	if w.ring != nil && (w.ring.ended != nil || w.ring.refused != nil) {
		row.Error = w.row.Error
	}
	if row.First != 0 && changedRow(row, w.row) {
		w.append(t, row)
	}
}

// counted are the counters of transports, and by which protocols a zero is
// measured too.
var counted = []struct {
	count stream.Count
	name  string
	by    map[string]bool
}{
	{stream.PacketsLost, "snag_stream_packets_lost_total", byRTP},
	{stream.PacketsLate, "snag_stream_packets_late_total", byRTP},
	{stream.PacketsReordered, "snag_stream_packets_reordered_total", byRTP},
	{stream.PacketsDuplicate, "snag_stream_packets_duplicate_total", byRTP},
	{stream.ContinuityErrors, "snag_stream_continuity_errors_total", map[string]bool{"mpegts": true}},
	{stream.ReceiverDropped, "snag_stream_reader_dropped_total", map[string]bool{"mpegts": true}},
	{stream.SegmentsFailed, "snag_stream_segments_failed_total", map[string]bool{"hls": true}},
}

var byRTP = map[string]bool{"rtp": true, "rtsp": true, "ps": true}

// Rename calls the stream something else from now on. Events that go on end under
// the new name.
func (w *Writer) Rename(p Place) {
	fresh := NewWriter(w.sink, w.anchor, p) // a sink may keep labels
	fresh.open, fresh.row, fresh.ring = w.open, w.row, w.ring
	*w = *fresh
}

// Know takes by what the stream is known now.
func (w *Writer) Know(k Known) { w.place.Known = k }

func (w *Writer) gauge(t recording.Time, name string, v Value) {
	if v.OK {
		w.sink.Sample(t, name, w.labels, v.V)
	}
}

// stream is the row as it is now.
func (w *Writer) stream(i Info) recording.Stream {
	at := func(ns int64) recording.Time {
		if ns == 0 {
			return 0
		}
		return w.anchor.FromMonotonic(ns)
	}
	p := w.place
	row := recording.Stream{
		Name: p.Name, URL: p.URL, Protocol: p.Protocol, Layer: p.Layer, Side: p.Side, Netns: p.Netns,
		Local: i.Local, Remote: i.Remote,
		Video: i.Video.Codec, Width: i.Video.Width, Height: i.Video.Height, FPS: i.Video.FPS,
		Audio: i.Audio.Codec, SampleRate: i.Audio.SampleRate, Channels: i.Audio.Channels,
		Was: p.Known.Was, NamedBy: p.Known.By, Publisher: p.Known.Publisher, Matched: p.Known.Matched, Runs: p.Known.Runs,
		Threshold: i.Limit, Asked: at(i.Asked), First: at(i.First), Last: at(i.Last),
	}
	if row.First == 0 { // between two connections: the last one's stand
		row.First, row.Last = w.row.First, max(row.Last, w.row.Last)
	}
	return row
}

// changedRow leaves out what changes all the time.
func changedRow(a, b recording.Stream) bool {
	a.T, a.Last, a.Threshold, b.T, b.Last, b.Threshold = 0, 0, 0, 0, 0, 0
	a.Matched, a.Runs, b.Matched, b.Runs = 0, 0, 0, 0
	return a != b
}

func (w *Writer) append(t recording.Time, row recording.Stream) {
	row.T = t
	w.row = row
	w.sink.Append(row)
}

// Events writes what ended or was an instant; what goes on is kept until it ends,
// or until Close.
func (w *Writer) Events(events []Event) {
	for _, e := range events {
		switch e.Phase {
		case Begun, Updated:
			w.open[e.ID] = e
			if w.ring != nil && e.Phase == Begun {
				w.sink.Append(w.Row(e))
			}
			continue
		case Ended:
			delete(w.open, e.ID)
		}
		if w.ring != nil && e.Phase == Ended && e.Doubt {
			w.withdraw(e)
		}
		if w.ring == nil || !w.stands(e) {
			w.sink.Append(w.Row(e))
		}
	}
}

// Close writes the stream's last row, and the events that still go on. err is why
// it could not be read or ended, nil for the watch's own end.
func (w *Writer) Close(now int64, i Info, err error) {
	w.leave(now)
	for id, e := range w.open {
		if w.ring != nil { // nobody will say when it ended
			e.End = max(now, e.Start)
		}
		w.sink.Append(w.Row(e))
		delete(w.open, id)
	}
	row := w.stream(i)
	if err != nil {
		row.Error = err.Error()
	}
	w.append(w.anchor.FromMonotonic(now), row)
}

// Row is an event as a recording has it. A gap that the watch's own lateness
// explains, or frames that it lost itself, are the observer's event, not the stream's.
func (w *Writer) Row(e Event) recording.Event {
	r := recording.Event{
		T: w.anchor.FromMonotonic(e.Start), Kind: e.Kind, Value: e.Value, Unit: e.Unit,
		Subject: recording.Subject{Kind: recording.KindStream, Name: w.place.Name},
		Attrs:   w.attrs(e),
	}
	if e.End != 0 {
		r.End = w.anchor.FromMonotonic(e.End)
	}
	if e.Doubt {
		r.Kind, r.Value, r.Unit = recording.EventObserverLate, e.ObserverLate+e.Missed, "seconds"
		r.Subject = recording.Subject{Kind: recording.KindObserver}
		r.Attrs["probe"], r.Attrs["stream"], r.Attrs["instead_of"] = "streams", w.place.Name, e.Kind
	}
	return r
}

func (w *Writer) attrs(e Event) map[string]string {
	a := map[string]string{}
	put := func(name, value string) {
		if value != "" {
			a[name] = value
		}
	}
	put("url", w.place.URL)
	put("layer", w.place.Layer)
	put("side", w.place.Side)
	put("what", e.What)
	put("from", e.From)
	put("to", e.To)
	put("why", e.Why)
	put("pattern", string(e.Pattern))
	if (e.Unit != "" || e.What != "") && e.Of != stream.Video {
		a["kind"] = e.Of.String()
	}
	if e.Threshold > 0 {
		a["threshold"] = decimal(e.Threshold)
	}
	if e.Step.OK {
		a["dts_step"] = decimal(e.Step.V)
	}
	if e.Burst > 0 {
		a["burst"] = strconv.Itoa(e.Burst)
	}
	if e.Pace.OK {
		a["pace"] = decimal(e.Pace.V)
	}
	if e.Steps > 1 {
		a["steps"] = strconv.Itoa(e.Steps)
	}
	if e.Before {
		a["before"] = "first frame"
	}
	if e.Base > 0 {
		a["base"] = decimal(e.Base)
	}
	if e.ObserverLate > 0 {
		a["observer_late"] = decimal(e.ObserverLate)
	}
	if e.Missed > 0 {
		a["observer_missed"] = decimal(e.Missed)
	}
	return a
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
