package figures

import (
	"math"
	"math/rand"
	"slices"
	"testing"
	"time"

	"snag/probes/streams/stream"
	"snag/recording"
)

const ms = int64(time.Millisecond)

// trace is a stream on paper: frames in the order of arrival.
type trace struct {
	frames []stream.Frame
	late   []span // when the watch was late: it tells so at each span's end
	missed []span // when the observer missed data: it tells so at each span's end
	until  int64  // Ticks go on until then
}

// start is when the traces' readers are let in.
const start = 1000 * second

// steady is n frames of fps from start on, a key frame every gop, with audio unless
// audio is 0 (frames per second).
func steady(fps float64, n, gop int, audio float64) *trace {
	t := &trace{}
	for i := range n {
		d := int64(math.Round(float64(i) * 1000 / fps)) // whole milliseconds, as RTMP has
		t.add(stream.Frame{Kind: stream.Video, Key: i%gop == 0, Arrival: start + d*ms, DTS: d * ms, PTS: d * ms, Size: 5000 + i%7})
	}
	end := int64(float64(n) / fps * 1e9)
	if audio > 0 {
		for i := 0; float64(i)/audio*1e9 < float64(end); i++ {
			d := int64(float64(i) / audio * 1e9)
			t.add(stream.Frame{Kind: stream.Audio, Arrival: start + d, DTS: d, PTS: d, Size: 300})
		}
	}
	t.until = start + end
	return t.sort()
}

func (t *trace) add(f stream.Frame) { t.frames = append(t.frames, f) }

func (t *trace) sort() *trace {
	slices.SortStableFunc(t.frames, func(a, b stream.Frame) int { return int(max(min(a.Arrival-b.Arrival, 1), -1)) })
	return t
}

// each changes every frame, or drops it where keep is false.
func (t *trace) each(change func(f *stream.Frame) (keep bool)) *trace {
	var out []stream.Frame
	for _, f := range t.frames {
		if change(&f) {
			out = append(out, f)
		}
	}
	t.frames = out
	return t.sort()
}

// hold makes everything that would arrive from on come together after d: a pause
// of the sender, a link, a server.
func (t *trace) hold(from, d int64) *trace {
	return t.each(func(f *stream.Frame) bool {
		if f.Arrival > start+from && f.Arrival < start+from+d {
			f.Arrival = start + from + d
		}
		return true
	})
}

// jitter delays frames by up to most, keeping their order.
func (t *trace) jitter(r *rand.Rand, most int64) *trace {
	newest := int64(0)
	for i := range t.frames {
		f := &t.frames[i]
		f.Arrival = max(f.Arrival+r.Int63n(most), newest)
		newest = f.Arrival
	}
	return t
}

// result is what a Meter said of a trace.
type result struct {
	seconds []Second
	events  []Event
	meter   *Meter
}

// run plays a trace with a Tick every 200 ms.
func (t *trace) run(o Options) result {
	if o.Asked == 0 {
		o.Asked = start - second/5
	}
	r := result{meter: New(o)}
	m, tick, late, missed := r.meter, o.Asked, t.late, t.missed
	lost := func(now int64) {
		for len(missed) > 0 && missed[0].to <= now {
			m.Missed(missed[0].from, missed[0].to)
			missed = missed[1:]
		}
	}
	until := func(now int64) {
		for tick <= now {
			lost(tick)
			for len(late) > 0 && late[0].to <= tick {
				m.Late(late[0].to, late[0].to-late[0].from)
				late = late[1:]
			}
			if s, whole := m.Tick(tick); whole {
				r.seconds = append(r.seconds, s)
			}
			r.events = m.Events(r.events)
			tick += second / 5
		}
	}
	m.Published(o.Asked+second/10, "127.0.0.1:40000", "127.0.0.1:1935")
	for _, f := range t.frames {
		until(f.Arrival - 1)
		lost(f.Arrival)
		m.Frame(f)
	}
	until(max(t.until, m.last))
	return r
}

// of returns the told events of a kind, of an interval what was told last.
func (r result) of(kind string) []Event {
	var out []Event
	for _, e := range r.events {
		if e.Kind != kind {
			continue
		}
		if i := slices.IndexFunc(out, func(o Event) bool { return o.ID == e.ID }); i >= 0 {
			out[i] = e
			continue
		}
		out = append(out, e)
	}
	return out
}

// quiet demands that nothing but the beginning was told.
func (r result) quiet(t *testing.T) {
	t.Helper()
	for _, e := range r.events {
		if e.Kind != recording.EventStreamPublished && e.Kind != recording.EventStreamFirstFrame {
			t.Errorf("told %+v", e)
		}
	}
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, within)
	}
}
