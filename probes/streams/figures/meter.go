package figures

import (
	"sync"

	"snag/probes/streams/stream"
)

// Meter measures one stream. It may be called from several goroutines; frames
// cost no allocation. About 3 KiB, 2 more for the last 90 seconds of media, and 4 once events came.
type Meter struct {
	mu sync.Mutex
	o  Options

	queue queue
	total Total
	track [2]track // by stream.Video, stream.Audio
	main  stream.Kind
	steps steps // of the main kind
	said  [2]stream.Params

	asked, published int64
	local, remote    string
	firstTold, gone  bool  // gone: audio stays away
	resumed          int64 // when the main kind's frames came again after as long as audio may stay away

	least     least
	drift     drift
	pace      pace
	freeze    freeze
	aside     [2]freeze // that are over and not told yet
	asides    int
	late      lateness
	missed    lateness // spans that the observer has no data of, and what comes after
	apart     bool     // audio and video have no common origin
	own       ownLoss
	bursts    bursts
	gop       gop
	skips     skips
	falls     falls
	restart   restart
	transport transport

	sec  secondSums
	five fiveSums
	last int64 // the newest arrival of any frame

	ticked int64  // the last Tick's time
	reason string // why no frames come, as the transport knows
}

// track is what is known of one kind's frames.
type track struct {
	any         bool
	first, last int64 // arrivals
	dts         int64 // of the last frame, as it said
	base        int64 // what jumps took out: DTS + base goes on evenly
	top         int64 // the most of DTS + base
	since       int64 // DTS + base at the last second's end
	steps       int   // frames since then
	bytes       int64 // of these
	media       media // of the seconds before
	opening     opening
	hole        bool // since the last second ended, DTS jumped, or left a second or more out
}

// New returns a Meter for one stream.
func New(o Options) *Meter {
	m := &Meter{o: o, main: stream.Audio}
	m.o.Asked = held(o.Asked)
	m.asked, m.sec.from = m.o.Asked, m.o.Asked
	return m
}

var _ stream.Sink = (*Meter)(nil)

// Rename calls the stream something else in the frame log from now on.
func (m *Meter) Rename(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.o.Name = name
}

// Asked begins a new connection of the same stream: a reader that ended asks
// again. Totals, the usual spacing and the parameters stay.
func (m *Meter) Asked(now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(held(now))
	m.asked = held(now)
}

// forget ends what stands and leaves the connection behind.
func (m *Meter) forget(now int64) {
	m.closeAll(now)
	m.track, m.main = [2]track{}, stream.Audio
	if m.said[stream.Video].Codec != "" {
		m.main = stream.Video
	}
	m.published, m.firstTold, m.gone = 0, false, false
	m.least.reset()
	m.drift, m.pace, m.freeze, m.bursts.any, m.gop.any = drift{}, pace{}, freeze{}, false, false
	m.skips.held = 0
	m.falls.forget()
	m.gop = gop{}
	m.transport.gauge = [stream.Gauges]Value{} // of a transport that is no more
	m.apart, m.reason = false, ""
	m.sec.begin()
}

// Frame takes one frame.
func (m *Meter) Frame(f stream.Frame) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.o.Frames != nil {
		m.o.Frames.Frame(m.o.Name, f)
	}
	if f.Kind > stream.Audio {
		return
	}
	f.DTS, f.PTS, f.Size = held(f.DTS), held(f.PTS), max(f.Size, 0)
	t := &m.track[f.Kind]
	f.Arrival = max(held(f.Arrival), t.last) // a clock that goes back is no clock
	m.last = max(m.last, f.Arrival)
	if f.Kind == stream.Video && m.main != stream.Video {
		m.turnToVideo(m.last)
	}
	m.count(f)
	u := manner{reordered: true}
	if f.Kind == m.main {
		u = manner{m.steps.typical, m.skips.reordered(), m.o.Bursty}
	}
	v := t.move(f, u)
	k := &m.sec.kind[f.Kind]
	k.opening = t.opening.has(v) || k.opening
	if f.Kind == m.main {
		m.mainFrame(v, f)
	} else {
		m.sec.apart = v.jumped || m.sec.apart
	}
}

// turnToVideo makes the video's frames those that count: until now there was none. A
// freeze that stands goes on until the first of them.
func (m *Meter) turnToVideo(now int64) {
	if !m.freeze.stands {
		m.closeFreeze(now)
	}
	m.endLate(now)
	m.endSlow(now)
	m.flushSteps()
	m.main, m.steps = stream.Video, steps{}
	m.least.reset()
	m.drift, m.pace, m.bursts.any, m.gop.any = drift{}, pace{}, false, false
	m.skips.held = 0
	m.sec.begin()
}

// manner is how a stream's DTS goes on, as far as it is known.
type manner struct {
	step      int64 // usual; 0: not known
	reordered bool  // steps back are what it does
	bursty    bool  // arrival says nothing of a frame's place within a segment
}

// jumps reports whether a step of DTS, with the time that passed until its frame came,
// is to another time line. Readers of RTP without DTS give pictures in coding order:
// steps back of a few frames are no jump there.
func (u manner) jumps(step, gap int64) bool {
	back := min(max(4*u.step, second/4), second)
	if !u.reordered && u.step > 0 {
		back = min(back, u.step)
	}
	return step < -back || step > jumpOver && step-gap > jumpOver
}

// move takes a track on to a frame.
func (t *track) move(f stream.Frame, u manner) moved {
	v := moved{at: f.Arrival, first: !t.any, before: t.dts + t.base}
	if t.any {
		v.step, v.gap = f.DTS-t.dts, f.Arrival-t.last
		if v.jumped = u.jumps(v.step, v.gap); v.jumped {
			on := v.gap // as if it came in time
			if u.bursty && u.step > 0 {
				on = u.step // a player plays on without a gap
			}
			t.base += on - v.step
		}
	} else {
		t.first, t.top, t.since = f.Arrival, f.DTS+t.base, f.DTS+t.base
		t.steps, t.bytes = -1, -int64(f.Size)
	}
	v.norm = f.DTS + t.base
	v.on = max(v.norm-t.top, 0)
	t.top += v.on
	t.hole = t.hole || v.jumped || !v.first && v.on > max(second, 4*u.step)
	v.top = t.top
	t.steps++
	t.bytes += int64(f.Size)
	t.any, t.last, t.dts = true, f.Arrival, f.DTS
	return v
}

// moved is how a frame differs from the one before it of its kind.
type moved struct {
	first  bool
	at     int64 // arrival
	gap    int64 // of arrival
	step   int64 // of DTS
	jumped bool
	before int64 // DTS of the frame before, jumps taken out
	norm   int64 // DTS, jumps taken out
	on     int64 // how far that is beyond all before
	top    int64 // the most of norm until now
}

// off is arrival against the most of DTS: only its changes mean something. It never
// grows faster than time goes by, whatever DTS does.
func (v moved) off() int64 { return v.at - v.top }

// mainFrame measures a frame of the kind that counts.
func (m *Meter) mainFrame(v moved, f stream.Frame) {
	m.total.Media += float64(v.on) / float64(second)
	if v.first {
		m.firstFrame(f)
	} else {
		m.sec.gapEnded(v.at-v.gap, v.at, &m.late)
		if m.o.Bursty && v.gap > burstGap {
			m.burstEnds(v, f.Key) // before a freeze's end, which forgets what it is held against
		}
		m.gapEnds(v)
		if v.gap >= audioAway {
			m.resumed = v.at
		}
		m.stepped(v)
	}
	m.least.add(v.at, v.off())
	m.sec.drifted(v.off()-m.least.value, v.off())
	if !m.o.Bursty {
		m.drifted(v.at, v.off()-m.least.value)
	}
	m.settle(v)
	m.gop.frame(f, v.norm)
	m.restarted(v.at, f.DTS, v.first)
}

// firstFrame reports how long the first frame took.
func (m *Meter) firstFrame(f stream.Frame) {
	if m.freeze.stands {
		m.endFreeze(moved{at: f.Arrival, gap: f.Arrival - m.freeze.start, first: true})
	}
	if f.Kind == stream.Video {
		m.tellFirst(f.Arrival)
	}
}
