package streams

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// coveredBy is the share of a stream's freezes that snag's own lateness must cover
// before they are put down to it.
const coveredBy = 0.5

// lateReader reports whether what snag saw as a stream's freezes was snag itself: its
// reader came late (its own count), or the data waited unread at its own socket. said
// is "" where it is not.
func lateReader(s *scene.Scene, r *recording.Recording) (all []suspect.Evidence, spans []recording.Interval, said string) {
	for _, st := range s.Streams {
		freezes := st.Stood(s.Window)
		length := intervals.Seconds(freezes, s.Window.End)
		if st.Row.Side != recording.StreamSidePlayer || length == 0 {
			continue
		}
		late, most := readerLate(r, st, s.Window)
		covered := intervals.Overlap(freezes, late, s.Window.End).Seconds()
		e := suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: most, Unit: "s", Source: source.At("", source.Sample("snag_stream_reader_late_seconds")), Origin: "late",
			Text: fmt.Sprintf("snag's reader of %s came %s late at the most, in %s of the %s that it stopped", st.Subject.Name, units.Lasting(most), units.Lasting(covered), units.Lasting(length))}
		if covered >= coveredBy*length {
			e.Side, e.Grade = suspect.For, suspect.Decisive
			spans = append(spans, late...)
			said = fmt.Sprintf("its reader of %s came up to %s late", st.Subject.Name, units.Lasting(most))
		}
		if most > 0 {
			all = append(all, e)
		}
		if len(st.Way) == 0 {
			continue
		}
		if st.Way[0].Datagrams {
			if waiting, looks, unread, lost := measure.UnreadDatagrams(st.Way[0].To, freezes); waiting >= 2 && float64(waiting) >= mostly*float64(looks) {
				all = append(all, suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: float64(unread), Unit: "B", Source: source.SS("-uamnp", source.RecvQ, source.SocketDrops), Origin: "its own socket",
					Text: fmt.Sprintf("up to %s waited unread in snag's own socket buffer while %s stopped, in %d of %d samples, %s lost for want of room", units.Bytes(float64(unread)), st.Subject.Name, waiting, looks, units.Count(float64(lost)))})
				spans = append(spans, freezes...)
				said = fmt.Sprintf("it did not read %s", st.Subject.Name)
			}
			continue
		}
		if own := readEnd(st.Way[0].To, receives, freezes, s.Window); own.seen && own.waiting >= 2 && own.unread() {
			all = append(all, suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: float64(own.most), Unit: "B", Source: source.SS("-tnp", source.RecvQ), Origin: "its own socket",
				Text: fmt.Sprintf("up to %s waited unread in snag's own socket buffer while %s stopped, %s", units.Bytes(float64(own.most)), st.Subject.Name, own.lookedAt())})
			spans = append(spans, freezes...)
			said = fmt.Sprintf("it did not read %s", st.Subject.Name)
		}
	}
	return all, spans, said
}

// heldUp are the gaps in a stream that the reader's own count of its lateness explains
// whole: they are written as the observer's, not as the stream's.
func heldUp(r *recording.Recording) (all []suspect.Evidence, spans []recording.Interval, said string) {
	sum := map[string]float64{}
	var names []string
	for _, e := range r.Events {
		name := e.Attrs["stream"]
		if e.Kind != recording.EventObserverLate || name == "" {
			continue
		}
		if sum[name] == 0 {
			names = append(names, name)
		}
		sum[name] += e.Value
		spans = append(spans, e.Interval())
	}
	for _, name := range names {
		e := suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: sum[name], Unit: "s", Source: source.Of("observer-late").And(source.At("", source.Sample("snag_stream_reader_late_seconds"))), Origin: "late",
			Text: fmt.Sprintf("snag's reader of %s was held up for %s of %s in all: these gaps are its own", name, units.Lasting(sum[name]), units.Lasting(r.Length().Seconds()))}
		if sum[name] >= oftenLateShare*r.Length().Seconds() {
			e.Side, e.Grade = suspect.For, suspect.Decisive
			said = fmt.Sprintf("its reader of %s was held up for %s", name, units.Lasting(sum[name]))
		}
		all = append(all, e)
	}
	if said == "" {
		spans = nil
	}
	return all, spans, said
}

// readerLate is when snag's reader of a stream was late, each time for as long as it
// was late before the sample, and the most. The gauge is of all readers where it does
// not name a stream.
func readerLate(r *recording.Recording, st *scene.Stream, window recording.Interval) (late []recording.Interval, most float64) {
	for _, series := range r.Select("snag_stream_reader_late_seconds") {
		if name := series.Labels["stream"]; name != "" && name != st.Row.Name || series.Labels["layer"] != "" && series.Labels["layer"] != st.Row.Layer {
			continue
		}
		for _, p := range series.Points {
			most = max(most, p.V)
			if p.V < lateRead {
				continue
			}
			late = append(late, recording.Interval{Start: max(window.Start, p.T.Add(-measure.Duration(p.V))), End: p.T})
		}
	}
	return intervals.Merge(late, measure.Joined), most
}

// lateRead: half a second is what a reader among twice as many busy threads as CPUs
// comes late now and then; a picture is held for as long by any player's buffer.
const lateRead = 0.5 // s

// lateStreams are the streams that stood still in that time.
func lateStreams(s *scene.Scene, spans []recording.Interval) []recording.Subject {
	var out []recording.Subject
	for _, st := range s.Streams {
		if intervals.Overlap(st.Stood(s.Window), spans, s.Window.End) > 0 {
			out = append(out, st.Subject)
		}
	}
	return out
}
