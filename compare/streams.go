package compare

import (
	"slices"

	"snag/recording"
	"snag/scene"
)

// Stream is a live stream that gave frames in both recordings.
type Stream struct {
	Name       string
	URLA, URLB string
	// Figures are all that both have, changed or not; the first are its frames per second.
	Figures []Amount
}

// Lost is a stream that gave frames in A and is missing in B, or gave none there, or none any more.
type Lost struct {
	Name       string
	URLA, URLB string  // URLB: "" where B has no such stream
	FPS        float64 // in A
	Since      float64 // s at B's end without a frame, where it gave some before; 0: it gave none
	Why        string  // the reason that the server gave; "" without one
}

const (
	leastFPS   = 0.5  // frames per second
	leastLate  = 0.25 // s: under it no stream is called late
	leastBits  = 0.2  // of A's bit rate: pictures differ
	leastFroze = 0.01 // s per second
	leastGOP   = 0.1  // s
	// silentPart of a recording without a frame at its end: the stream stopped.
	silentPart = 0.5
)

// streams compares those that both read, and finds those that B lost. Which viewer was served what is
// not compared: they come and go.
func (c *Comparison) streams(a, b *scene.Scene, together bool) (tests int) {
	if !both(c.A, c.B, "streams.figures", "live streams", &c.OneSided) {
		return 0
	}
	mine, theirs := watched(a), watched(b)
	for _, st := range mine {
		was := seen{c.A, st}
		if st.Row.First == 0 || was.silent() >= silentPart*c.A.Length().Seconds() {
			continue // A is no measure for it
		}
		other := counterpart(st, theirs)
		if other == nil && together && len(mine) == 1 && len(theirs) == 1 {
			other = theirs[0]
		}
		now := seen{c.B, other}
		lost := Lost{Name: st.Subject.Name, URLA: st.Row.URL, FPS: was.fps()}
		if other == nil {
			c.Lost = append(c.Lost, lost)
			continue
		}
		lost.URLB, lost.Why = other.Row.URL, other.Row.Error
		since := now.silent()
		if other.Row.First == 0 {
			c.Lost = append(c.Lost, lost)
			continue
		}
		if since >= silentPart*c.B.Length().Seconds() {
			lost.Since = since
			c.Lost = append(c.Lost, lost)
			continue
		}
		c.feel(was, now)
		one := Stream{Name: st.Subject.Name, URLA: st.Row.URL, URLB: other.Row.URL, Figures: figuresOf(was, now)}
		if len(one.Figures) == 0 || one.Figures[0].What != "frames" {
			c.TooFew = append(c.TooFew, "stream "+one.Name)
			continue
		}
		c.Streams = append(c.Streams, one)
		tests += len(one.Figures)
	}
	return tests
}

func watched(s *scene.Scene) (out []*scene.Stream) {
	for _, st := range s.Streams {
		if st.Row.Side != recording.StreamSideConsumer {
			out = append(out, st)
		}
	}
	return out
}

// counterpart is the stream of the same name at the same place, or of the same URL.
func counterpart(st *scene.Stream, others []*scene.Stream) *scene.Stream {
	for _, same := range []func(o *scene.Stream) bool{
		func(o *scene.Stream) bool { return o.Row.Name == st.Row.Name },
		func(o *scene.Stream) bool { return o.Row.URL == st.Row.URL && st.Row.URL != "" },
	} {
		i := slices.IndexFunc(others, func(o *scene.Stream) bool {
			return o.Row.Layer == st.Row.Layer && o.Row.Side == st.Row.Side && same(o)
		})
		if i >= 0 {
			return others[i]
		}
	}
	return nil
}

// judgeStreams judges all figures of streams; those that changed are amounts too.
func (c *Comparison) judgeStreams() {
	for i := range c.Streams {
		for k := range c.Streams[i].Figures {
			one := &c.Streams[i].Figures[k]
			one.Change.judge(c.Compared)
			one.Stream = c.Streams[i].Name
			if one.Change.Differs() {
				c.Amounts = append(c.Amounts, *one)
			}
		}
	}
}

func figuresOf(a, b seen) (out []Amount) {
	ka, kb := a.kind(), b.kind()
	add := func(one Amount, wa, wb []block, least float64) {
		one.Change = newChange(wa, wb, least, amounts)
		if one.Change.enough() && (one.Change.A != 0 || one.Change.B != 0) {
			out = append(out, one)
		}
	}
	add(Amount{What: "frames", LessBad: true}, a.grown("snag_stream_frames_total", ka, 1), b.grown("snag_stream_frames_total", kb, 1), leastFPS)
	bits := a.grown("snag_stream_bytes_total", "", 8)
	add(Amount{What: "bit rate", Unit: "bit", LessBad: true}, bits, b.grown("snag_stream_bytes_total", "", 8), leastBits*ratioOf(bits))
	add(Amount{What: "lateness", Unit: GaugeSeconds, Bad: true}, a.gauge("snag_stream_drift_seconds"), b.gauge("snag_stream_drift_seconds"), leastLate)
	add(Amount{What: "GOP", Unit: GaugeSeconds}, a.gauge("snag_stream_gop_seconds"), b.gauge("snag_stream_gop_seconds"), leastGOP)
	add(Amount{What: "frozen", Unit: "s", Bad: true}, a.frozen(), b.frozen(), leastFroze)
	return out
}

// noFrame says why the streams that were asked for gave none; "" where one did.
func noFrame(s *scene.Scene) string {
	why := "it gave no frame"
	for _, st := range s.Streams {
		if st.Row.First != 0 {
			return ""
		}
		if st.Row.Error != "" {
			why = st.Row.Error
		}
		for _, e := range st.Events {
			if e.Kind == recording.EventStreamRefused && e.Attrs["why"] != "" {
				why = e.Attrs["why"]
			}
		}
	}
	return why
}
