package streams

import (
	"fmt"
	"strconv"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/suspect"
)

// standsAt is where on its way a stream stands still or is held back.
type standsAt int

const (
	atUnknown  standsAt = iota // the sockets do not tell
	atSource                   // its source has nothing to send
	atSlowLink                 // bytes wait for a connection that carries too little
	atDeadLink                 // a connection carries nothing though its ends are there
	atServer                   // a process on the way does not read, or reads and does not send
	atPlayer                   // who asked for it does not read
	atWatcher                  // snag's own reader does not
)

// open is what may be at fault where the sockets do not tell.
type open struct{ upstream, server bool }

// faulty is one stream's freezes, or its lateness, and where it stands then: Locate makes them.
type faulty struct {
	stream *scene.Stream
	suffered
	place
	ends
}

// suffered is what its viewer had of it.
type suffered struct {
	// felt is when its viewer suffered, and spans when what caused it acted where the
	// fault was found: the same but for what is delayed.
	felt, spans []recording.Interval
	// delayed: what its viewer suffers comes later than its cause by what is held on
	// the way: HLS, and a viewer's wait for the first key frame.
	delayed bool
	// slow: it went on, later and later. Else it stood still.
	slow bool
	// ratio is how far its clock moved a second of the wall's; 0 not told.
	ratio float64
	// burst is how many frames came at once after a freeze, at the most, and step by
	// how much the clock moved over it, s; held reports that step was known.
	burst, step float64
	held        bool
}

// place is where on its way it stands.
type place struct {
	at   standsAt
	link int // index in the stream's way: the connection that it is at, or out of which it does not come
	// holds: the server reads all and sends nothing; web: it is the web server that does not
	// give the files.
	holds, web bool
	// reason is why it is not known where, and open what it may be then: upstream of
	// the server, or the server itself.
	reason string
	open   open
	// between: its freezes lie between two looks at the sockets; alike counts those of a
	// fault that do, and were taken to be as the others.
	between bool
	alike   int
}

// ends are what the two ends of the connection that it is at showed meanwhile.
type ends struct {
	from, to reading
	// in is, of a server that reads all and sends nothing, what came to it.
	in reading
	// served is what the files and the requests for them showed, of HLS.
	served served
	// sent and came are datagrams, of a link over UDP, and left what waited unread there.
	sent, came arrivals
	left       string
}

// longFreeze: shorter ones pass between two looks at the sockets.
const longFreeze = 2.0 // s

// keepsPace: a stream whose clock moves like this is late by what was before, and
// nothing holds it back now; healthy ones move 0.99 to 1.01 s a second.
const keepsPace = 0.97

// located is the key by which Locate keeps what it found.
type located struct{}

// Locate finds for each stream that suffers where it stands, once for all suspects.
func Locate(s *scene.Scene, r *recording.Recording) []*faulty {
	return scene.Keep(s, located{}, func() []*faulty { return streamFaults(s, r) })
}

// streamFaults judges freezes one by one: one stream may be stopped by its encoder and then by
// its server.
func streamFaults(s *scene.Scene, r *recording.Recording) []*faulty {
	var out []*faulty
	for _, st := range s.Streams {
		var all []*faulty
		freezes := st.Stood(s.Window)
		for _, span := range freezes {
			f := &faulty{stream: st, suffered: suffered{felt: []recording.Interval{span}, delayed: st.Delayed(span)}}
			f.pattern(st, span)
			f.locate(s, r)
			all = joinFaults(all, f)
		}
		slow := intervals.Merge(append(st.Spans(recording.EventStreamLate, s.Window), st.Spans(recording.EventStreamSlow, s.Window)...), 0)
		// What a freeze left behind is late by it: that is the freeze's doing.
		if free := intervals.Outside(slow, freezes); intervals.Seconds(free, s.Window.End) >= longFreeze {
			f := &faulty{stream: st, suffered: suffered{felt: free, spans: free, slow: true}}
			if f.pace(r); f.ratio < keepsPace {
				f.locate(s, r)
				all = joinFaults(all, f)
			}
		}
		out = append(out, takeAlike(all)...)
	}
	return out
}

// takeAlike gives freezes that lie between two looks to the one place at which all
// others of the stream were found to stand, where there is one such place.
func takeAlike(all []*faulty) []*faulty {
	var found *faulty
	for _, f := range all {
		if f.slow || f.between {
			continue
		}
		if found != nil || f.at == atUnknown {
			return all
		}
		found = f
	}
	if found == nil {
		return all
	}
	var out []*faulty
	for _, f := range all {
		if !f.between {
			out = append(out, f)
			continue
		}
		found.alike += len(f.felt)
		found.spans = intervals.Merge(append(found.spans, f.spans...), 0)
		found.felt = intervals.Merge(append(found.felt, f.felt...), 0)
	}
	return out
}

// joinFaults adds a freeze to one at the same place.
func joinFaults(all []*faulty, f *faulty) []*faulty {
	for _, have := range all {
		if have.at == f.at && have.link == f.link && have.holds == f.holds && have.web == f.web && have.between == f.between && (have.at != atUnknown || have.slow == f.slow) {
			if have.slow != f.slow { // it freezes, and in between it falls back
				have.spans, have.ratio = intervals.Merge(append(have.spans, f.spans...), 0), f.ratio
				have.felt = intervals.Merge(append(have.felt, f.felt...), 0)
			} else {
				have.spans, have.felt = append(have.spans, f.spans...), append(have.felt, f.felt...)
			}
			have.burst, have.step, have.held = max(have.burst, f.burst), max(have.step, f.step), have.held || f.held
			have.from, have.to, have.in = have.from.plus(f.from), have.to.plus(f.to), have.in.plus(f.in)
			return all
		}
	}
	return append(all, f)
}

// plus adds up what two spans of time showed of one end.
func (m reading) plus(o reading) reading {
	if m.socket == nil {
		return o
	}
	m.seen = m.seen || o.seen
	m.looks += o.looks
	m.waiting += o.waiting
	m.most = max(m.most, o.most)
	m.shut += o.shut
	m.backoff = max(m.backoff, o.backoff)
	if sum := m.seconds + o.seconds; sum > 0 {
		m.limited = (m.limited*m.seconds + o.limited*o.seconds) / sum
	}
	m.aged = max(m.aged, o.aged)
	m.seconds += o.seconds
	m.received += o.received
	m.taken += o.taken
	m.written += o.written
	m.acked += o.acked
	m.resent += o.resent
	m.segments += o.segments
	m.rtt = max(m.rtt, o.rtt)
	return m
}

// pattern reads how a freeze ended, by the frames themselves.
func (f *faulty) pattern(st *scene.Stream, span recording.Interval) {
	for _, e := range st.Events {
		if e.Kind != recording.EventStreamFreeze || e.T > span.End || e.End != 0 && e.End < span.Start {
			continue
		}
		if n, err := strconv.ParseFloat(e.Attrs["burst"], 64); err == nil {
			f.burst = max(f.burst, n)
		}
		if v, err := strconv.ParseFloat(e.Attrs["dts_step"], 64); err == nil {
			f.step, f.held = max(f.step, v), true
		}
	}
}

// pace is how fast the stream's clock moved while it was late.
func (f *faulty) pace(r *recording.Recording) {
	for _, e := range f.stream.Events {
		if e.Kind == recording.EventStreamSlow && e.Value > 0 && (f.ratio == 0 || e.Value < f.ratio) {
			f.ratio = e.Value
		}
	}
	if f.ratio > 0 {
		return
	}
	late, _ := readerLate(r, f.stream, r.Window()) // what it had not read yet did not move
	for _, series := range r.Select("snag_stream_media_seconds_total", "stream", f.stream.Row.Name) {
		if series.Labels["layer"] != f.stream.Row.Layer || len(series.Points) < 2 {
			continue
		}
		moved, wall := 0.0, 0.0
		for i := 1; i < len(series.Points); i++ {
			a, b := series.Points[i-1], series.Points[i]
			if intervals.Cover(f.felt, a.T) && intervals.Cover(f.felt, b.T) && b.V >= a.V && !intervals.Cover(late, a.T) && !intervals.Cover(late, b.T) {
				moved += b.V - a.V
				wall += b.T.Sub(a.T).Seconds()
			}
		}
		if wall >= longFreeze {
			f.ratio = moved / wall
		}
	}
}

// seconds is how long it stood still, or how far it fell back.
func (f *faulty) seconds(end recording.Time) float64 {
	sum := intervals.Seconds(f.felt, end)
	if f.slow && f.ratio > 0 && f.ratio < 1 {
		return (1 - f.ratio) * sum
	}
	return sum
}

// harm is what its viewers bear of it.
func (f *faulty) harm(window recording.Interval) suspect.Harm {
	n := f.seconds(window.End)
	h := suspect.Harm{Symptom: scene.StreamFreeze, Amount: n, Of: window.Length(window.End).Seconds(), Unit: "s",
		Text: fmt.Sprintf("%s frozen for %s of %s", f.stream.Subject.Name, units.Lasting(n), units.Lasting(window.Length(window.End).Seconds()))}
	if f.slow {
		h.Symptom, h.Text = scene.StreamLate, fmt.Sprintf("%s falls back by %s in %s", f.stream.Subject.Name, units.Lasting(n), units.Lasting(intervals.Seconds(f.felt, window.End)))
	}
	return h
}

// what says in words what the viewer saw.
func (f *faulty) what(end recording.Time) string {
	name := f.stream.Subject.Name
	switch {
	case f.slow && f.ratio > 0:
		return fmt.Sprintf("%s moves %.2f s a second of its clock", name, f.ratio)
	case f.slow:
		return name + " comes later and later"
	case len(f.felt) > 1:
		return fmt.Sprintf("%s stopped %d times, %s in all", name, len(f.felt), units.Lasting(intervals.Seconds(f.felt, end)))
	}
	return fmt.Sprintf("%s stopped for %s", name, units.Lasting(intervals.Seconds(f.felt, end)))
}
