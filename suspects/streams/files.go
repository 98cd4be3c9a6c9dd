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

// served is what a stream that comes from files showed in a fault's time: at the web
// server, and on the disk.
type served struct {
	// asked and unheard are the looks at the connections on which snag's reader asks, and
	// those at which a request of it waited unread at the server.
	asked, unheard int
	request        int // bytes of the largest of them
	// seen: the files were looked at; changes are those of the playlist in that time,
	// still the longest time without one, s, and grew by how much the segment that was
	// written grew, bytes.
	seen    bool
	changes int
	still   float64
	looked  float64 // s: for how long, from the first look to the last
	grew    int64
	file    recording.StreamFile
	target  float64 // s: the playlist has to change that often
}

// serving reads the requests and the files.
func (f *faulty) serving(s *scene.Scene, r *recording.Recording) served {
	v := served{target: f.stream.Delay.Seconds() / 1.5}
	for _, k := range s.Requests(r, f.stream.Row) {
		if k.Peer == nil {
			continue
		}
		for _, row := range k.Peer.Rows {
			if !intervals.Cover(f.felt, row.T) || row.State != "ESTABLISHED" && row.State != "CLOSE_WAIT" {
				continue
			}
			v.asked++
			if row.RecvQ > 0 {
				v.unheard++
				v.request = max(v.request, row.RecvQ)
			}
		}
	}
	v.files(f)
	return v
}

// files reads how the files went on, from a segment's length before the playlist was
// late to the end.
func (v *served) files(f *faulty) {
	for _, span := range f.felt {
		from := span.Start.Add(-f.stream.Delay)
		var last recording.StreamFile
		for _, row := range f.stream.Files {
			if row.T < from || row.T > span.End {
				continue
			}
			v.file = row
			if last.T != 0 {
				v.seen = true
				v.looked += row.T.Sub(last.T).Seconds()
				if row.MTime != last.MTime {
					v.changes++
				}
				if row.Segment == last.Segment {
					v.grew += max(0, row.SegmentSize-last.SegmentSize)
				} else {
					v.grew += row.SegmentSize
				}
			}
			v.still = max(v.still, row.T.Sub(max(row.MTime, from)).Seconds())
			last = row
		}
	}
}

// fresh: the playlist on disk changed as it has to, while the reader saw an old one. One that
// changes too seldom is late itself: what is packed comes too slowly.
func (v served) fresh() bool {
	return v.seen && v.changes >= 2 && v.still <= 2*v.target+0.5 && float64(v.changes+1)*v.target >= v.looked
}

// gaveAll reports whether the web server gave the viewer as much as was written meanwhile: what it
// gives comes late, and is not old.
func (f *faulty) gaveAll() bool {
	v := f.served
	return f.to.seen && f.to.seconds > 0 && v.looked > 0 && f.to.received/f.to.seconds >= mostly*float64(v.grew)/v.looked
}

// stale: it did not.
func (v served) stale() bool { return v.seen && v.still > 2*v.target }

// onDisk says how the files were.
func (v served) onDisk() string {
	text := fmt.Sprintf("%s changed %s meanwhile (longest without: %s; its segments are to be %s long)", v.file.Path, units.Times(v.changes), units.Lasting(v.still), units.Lasting(v.target))
	if v.file.Segment != "" {
		text += fmt.Sprintf(", and %s were written to segments", units.Bytes(float64(v.grew)))
	}
	return text
}

// locateServed tells of the first link of a stream that comes from files whether it
// stands there. It does where snag's own reader does not read, where the web server
// leaves requests unread, or gives an old playlist while there is a new one.
func (f *faulty) locateServed(s *scene.Scene, r *recording.Recording) bool {
	f.served = f.serving(s, r)
	v := f.served
	switch {
	case f.to.seen && f.to.waits() && f.to.unread() && f.to.waiting >= 2:
		f.at = f.whoReads(r)
	case v.unheard >= 1 && float64(v.unheard) >= mostly*float64(v.asked):
		f.at, f.web = atServer, true
	case v.fresh() && !f.gaveAll():
		f.at, f.web = atServer, true
	case f.from.waits():
		f.reason = "bytes wait at the server for the connection to the player"
	case len(f.stream.Way) == 1:
		f.reason, f.open = f.stream.Ends, open{true, true}
	default:
		return false
	}
	return true
}

// notServing is the finding on a web server that does not give what there is.
func (f *faulty) notServing(s *scene.Scene) suspect.Finding {
	v, sub := f.served, f.stream.Subject
	if f.stream.Web != nil {
		sub = f.stream.Web.Subject
	} else if p := f.stream.Way[0].Sender(); p != nil {
		sub = p.Subject
	}
	out := f.finding(s, sub)
	who := measure.ProgramOf(sub)
	out.Text = fmt.Sprintf("%s did not answer requests for %s: %s", who, f.stream.Subject.Name, f.what(s.Window.End))
	if v.unheard > 0 {
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(v.unheard), Unit: "samples", Source: source.SS("-tnp", source.RecvQ), Origin: "the server's socket",
			Text: fmt.Sprintf("a request of %s waited unread in the buffer of its socket in %d of %d samples", units.Bytes(float64(v.request)), v.unheard, v.asked)}
		if v.unheard >= 2 {
			e.Grade = suspect.Decisive
		}
		out.Evidence = append(out.Evidence, e)
	}
	switch {
	case v.fresh():
		if v.unheard == 0 {
			out.Text = fmt.Sprintf("%s gave an old playlist of %s, and the file was new", who, f.stream.Subject.Name)
		}
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(v.changes), Unit: "changes", Source: source.Of("table stream_files").And(source.Of("stat")), Origin: "files", Text: v.onDisk()},
			suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: intervals.Seconds(f.felt, s.Window.End), Unit: "s", Source: source.At("", source.Sample("snag_stream_playlist_age_seconds")), Origin: "frames",
				Text: "what it gave in that time did not change"})
	case v.seen:
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: v.still, Unit: "s", Source: source.Of("table stream_files").And(source.Of("stat")), Origin: "files", Text: v.onDisk()})
	}
	out.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("What keeps %s from answering is above it in the chain, where one is printed. Else its limits, or a cache before it.", who), Program: "Its threads show what it does instead."}
	out.Next = fmt.Sprintf("for i in 1 2 3; do head /proc/%d/task/*/{comm,wchan,syscall}; sleep 1; done", sub.PID)
	return out
}

// webServed clears the web server: it gave what was there.
func (f *faulty) webServed() (suspect.Finding, bool) {
	v := f.served
	if f.stream.Web == nil || f.web || !v.stale() || v.unheard > 0 {
		return suspect.Finding{}, false
	}
	return suspect.Finding{Subject: f.stream.Web.Subject, Active: f.spans, Text: "the web server gave the playlist as it was",
		Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: v.still, Unit: "s", Source: source.Of("table stream_files").And(source.Of("stat")), Origin: "files", Text: "there was no newer one to give: " + v.onDisk()}}}, true
}

// onFiles is what the files add to a finding on a fault behind the web server.
func (f *faulty) onFiles(out suspect.Finding) suspect.Finding {
	if v := f.served; v.stale() {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: v.still, Unit: "s", Source: source.Of("table stream_files").And(source.Of("stat")), Origin: "files", Text: v.onDisk()})
	}
	return out
}

// madeNothing is the finding on a program that makes the stream and writes its files,
// and wrote none.
func (f *faulty) madeNothing(s *scene.Scene) suspect.Finding {
	p, v := f.stream.Writer, f.served
	out := f.finding(s, p.Subject)
	who := measure.ProgramOf(p.Subject)
	out.Text = fmt.Sprintf("%s wrote no segment of %s for %s", who, f.stream.Subject.Name, units.Lasting(v.still))
	out.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: v.still, Unit: "s", Source: source.Of("table stream_files").And(source.Of("stat")), Origin: "files", Text: v.onDisk() + "; nothing brings it the stream over the network: it makes it"},
		{Side: suspect.For, Grade: suspect.Strong, Value: intervals.Seconds(f.felt, s.Window.End), Unit: "s", Source: source.At("", source.Sample("snag_stream_playlist_age_seconds")), Origin: "frames", Text: "the web server answered, with the playlist as it was"},
	}
	out.Remedy = sourceOf(who + ", a disk that keeps up")
	out.Next = fmt.Sprintf("for i in 1 2 3; do head /proc/%d/task/*/{comm,wchan,syscall}; sleep 1; done   # what it waits for", p.Subject.PID)
	return out
}

// packs reports whether the process that takes the stream in at the link of the fault
// writes it to files.
func (f *faulty) packs() bool {
	return f.link > 0 && f.link < len(f.stream.Way) && f.stream.Way[f.link].ToFiles
}
