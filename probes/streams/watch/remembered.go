package watch

import (
	"math"

	"snag/probes/streams/figures"
	"snag/probes/streams/past"
	"snag/probes/streams/stream"
	"snag/recording"
)

// remember keeps a second of a stream that is to be shown later.
func (w *Watcher) remember(s *one, f figures.Second) {
	if s.past == nil {
		return
	}
	from := w.time(f.T)
	to := w.time(f.T + int64(math.Round(f.Length*1e9)))
	if s.link0().phase != reading || f.Total.Connected == 0 {
		s.ahead, s.media = figures.Value{}, f.Total.Media
		s.past.Add(from, to, past.NotMeasured())
		return
	}
	s.moveAhead(f)
	s.past.Add(from, to, pastOf(f, s.ahead))
}

// moveAhead adds how far the timestamps moved in a second less how long it was. It begins
// anew with what a server sent at once at the start.
func (s *one) moveAhead(f figures.Second) {
	moved := f.Total.Media - s.media
	s.media = f.Total.Media
	switch {
	case !fpsOf(f).OK:
		s.ahead = figures.Value{}
	case !s.ahead.OK:
		s.ahead = figures.Value{OK: true}
	default:
		s.ahead.V += moved - f.Length
	}
}

// pastOf are the figures of a second that are remembered.
func pastOf(f figures.Second, ahead figures.Value) past.Values {
	v := past.NotMeasured()
	put := func(q int, x figures.Value) {
		if x.OK {
			v[q] = x.V
		}
	}
	put(past.Late, f.Drift)
	put(past.Clock, ahead)
	put(past.FPS, fpsOf(f))
	put(past.Video, megabits(f.Video))
	put(past.Audio, megabits(f.Audio))
	put(past.GOP, figures.Value{V: f.GOP.Seconds, OK: f.GOP.Frames > 0})
	put(past.Gap, f.Gap)
	put(past.Skew, f.Skew)
	g, c := f.Transport.Gauge, f.Transport.Count
	lost := c[stream.PacketsLost] + c[stream.ContinuityErrors]
	put(past.Lost, figures.Value{V: float64(lost), OK: g[stream.Jitter].OK || g[stream.PCRJitter].OK || lost > 0})
	return v
}

// megabits is a track's bit rate; that of one of which nothing comes is none.
func megabits(t figures.Track) figures.Value {
	return figures.Value{V: t.Bitrate.V / 1e6, OK: t.Bitrate.OK && t.Present}
}

// Remembered is one stream with what is remembered of it. Past may be read until the
// function that got it returns.
type Remembered struct {
	Row
	Past *past.Stream
	// Event makes a recording's event of one that is remembered, also later.
	Event func(figures.Event) recording.Event
}

// Remembered gives each stream with what is remembered of it, and returns the time. No
// stream's figures move meanwhile: what takes long is to be done afterwards.
func (w *Watcher) Remembered(each func(Remembered)) recording.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	for _, s := range w.streams {
		if s.past == nil {
			continue
		}
		writer := figures.NewWriter(nil, w.o.Anchor, w.place(s))
		each(Remembered{Row: w.rowOf(s, now), Past: s.past, Event: writer.Row})
	}
	return w.time(now)
}

// Places are the places of the streams that are watched at several, in the order in which
// a stream passes them.
func (w *Watcher) Places() map[string][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string][]string{}
	for _, l := range w.layered {
		out[l.name] = l.names
	}
	return out
}
