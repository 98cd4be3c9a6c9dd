package figures

import (
	"snag/probes/streams/stream"
	"snag/recording"
)

// freeze is a gap over the threshold: it stands, then settles (for up to a second
// after its end, until it is known what came with it), then is told.
type freeze struct {
	stands   bool
	settling bool
	settled  bool // nothing more of it to come; told at the next Tick: the watch may have to tell first that it was late
	told     bool // its Begun was
	never    bool // its frames had come in time, and were read late
	fresh    bool // it ended with the first frame of its kind: there is nothing to hold that against
	id       uint64
	before   bool  // there was no frame at all
	from     int64 // since when a frame was due
	start    int64 // from, or when a bursty transport's player had nothing left
	seen     int64 // when it was seen to stand, after start; 0: it was over before that
	limit    int64
	reason   string // as the transport knows it
	last     int64  // arrival of the last frame before
	dts, off int64  // of the last frame before, jumps taken out; off is arrival less DTS

	end     int64
	step    int64
	jumped  bool
	frames  int   // since the end, the first counted
	at, now int64 // of the newest frame since: arrival, DTS
}

// lateKnown is when it is known at the latest how late the watch was: whoever measures
// it waits for the CPU beside the readers.
const lateKnown = second / 5

// allTime is after each freeze's end.
const allTime = mostTime + lateKnown

// settleFor is how long after a freeze its burst is counted.
const settleFor = second

// limit is how long there may be no frame, ns.
func (m *Meter) limit() int64 {
	fps := m.said[m.main].FPS
	switch {
	case m.o.Threshold > 0:
		return int64(m.o.Threshold)
	case m.o.Bursty:
		return 3 * m.target()
	case m.steps.spacing() > 0:
		return max(leastThreshold, 3*m.steps.spacing())
	case m.main == stream.Video && fps > 0.05:
		return max(leastThreshold, int64(3*float64(second)/fps))
	}
	return firstThreshold
}

// waiting is since when a frame is due: the last one's arrival; what a bursty
// transport's player has in hand is added.
func (m *Meter) waiting() int64 {
	t := &m.track[m.main]
	if !t.any {
		return m.published
	}
	if m.o.Bursty && m.least.any {
		return t.top + m.least.value
	}
	return t.last
}

// watchFreeze begins a freeze once its threshold has passed.
func (m *Meter) watchFreeze(now int64) {
	f := &m.freeze
	m.tellAside(now)
	if f.settling && m.asides == 0 && now-f.end >= lateKnown && (f.settled || now-f.end >= settleFor) {
		m.tellFreeze()
	}
	if f.stands || f.settling || m.asides > 0 || m.published == 0 && !m.track[m.main].any {
		return
	}
	from, limit, before := m.waiting(), m.limit(), !m.track[m.main].any
	if before {
		limit = max(limit, firstWait)
	}
	if now-from-m.excused(from, now) < limit+m.leastStall() {
		return
	}
	m.beginFreeze(now, from, limit, before)
	if !m.o.Over {
		m.tellBegun(now)
	}
}

// beginFreeze notes a freeze; whom to tell is another matter.
func (m *Meter) beginFreeze(now, from, limit int64, before bool) {
	t := &m.track[m.main]
	start := from
	if m.o.Bursty && !before {
		start = from + limit // the buffer ran dry only then
	}
	m.freeze = freeze{
		stands: true, before: before, from: from, start: start, seen: now, limit: limit, reason: m.reason,
		last: t.last, dts: t.dts + t.base, off: t.last - t.dts - t.base,
	}
	m.endSlow(t.last)
	m.pace.reset()
}

func (m *Meter) tellBegun(now int64) {
	f := &m.freeze
	f.id = m.queue.id()
	f.told = m.queue.tell(Event{
		ID: f.id, Phase: Begun, Kind: recording.EventStreamFreeze, Start: f.start,
		Value: seconds(now - f.start), Unit: "seconds", Of: m.main, Threshold: seconds(f.limit), Before: f.before, Why: f.reason,
		ObserverLate: seconds(m.late.within(f.start, now)), Missed: seconds(m.missed.within(f.start, now)),
	})
}

// Finish reports what still stands and was kept back (Options.Over): nothing more
// will come.
func (m *Meter) Finish(now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now = held(now)
	if f := &m.freeze; f.settling {
		m.tellFreeze()
	} else if f.stands && !f.told {
		m.tellBegun(now)
	}
}

// gapEnds ends a freeze with the frame v: one that stands, or one that was over
// before a Tick saw it.
func (m *Meter) gapEnds(v moved) {
	f := &m.freeze
	switch {
	case f.stands && v.at < f.from+f.limit:
		m.cameBefore(v)
		return
	case f.stands:
		m.endFreeze(v)
		return
	}
	limit := m.limit()
	from := v.at - v.gap
	if m.o.Bursty && m.least.any {
		from = v.before + m.least.value
	}
	if v.at-from < limit+m.leastStall() {
		return
	}
	if f.settling {
		m.setAside()
	}
	start := from
	if m.o.Bursty {
		start += limit
	}
	m.endSlow(v.at - v.gap)
	m.pace.reset()
	m.freeze = freeze{stands: true, from: from, start: start, limit: limit, reason: m.reason, last: v.at - v.gap, dts: v.before, off: v.at - v.gap - v.before}
	m.endFreeze(v)
}

// endFreeze lets what stands settle.
func (m *Meter) endFreeze(v moved) {
	if m.o.Bursty {
		// The player of the model has waited, and plays on from what came now.
		m.least.reset()
	}
	f := &m.freeze
	f.stands, f.settling = false, true
	f.end, f.step, f.jumped, f.fresh = max(v.at, f.start), v.step, v.jumped, v.first
	if m.o.Bursty || v.first { // that its frame came before it was seen is a moment, and no length
		f.end = max(f.end, f.seen)
	}
}

// settle counts what comes right after a freeze, until the stream is where it would
// have been without it, or a second has passed.
func (m *Meter) settle(v moved) {
	f := &m.freeze
	if !f.settling || f.settled {
		return
	}
	if v.at-f.end >= settleFor {
		f.settled = true
		return
	}
	f.frames++
	f.at, f.now = v.at, v.norm
	slack := m.steps.typical*3/2 + second/20
	if f.fresh || f.jumped || v.off()-f.off <= slack {
		f.settled = true
	}
}

// setAside makes room for the next freeze. One that is over is told at a Tick, as
// only then it is known how late the watch was until its end.
func (m *Meter) setAside() {
	if m.asides == len(m.aside) {
		m.tellAside(allTime)
	}
	m.aside[m.asides] = m.freeze
	m.asides++
	m.freeze = freeze{}
}

// tellAside reports what was set aside and ended before a Tick's time: later ends wait
// for the next.
func (m *Meter) tellAside(now int64) {
	n := 0
	for n < m.asides && now-m.aside[n].end >= lateKnown {
		m.tellOver(m.aside[n])
		n++
	}
	copy(m.aside[:], m.aside[n:m.asides])
	m.asides -= n
}

// closeFreeze ends a freeze with the connection.
func (m *Meter) closeFreeze(now int64) {
	m.tellAside(allTime)
	f := &m.freeze
	if f.stands {
		f.stands, f.settling, f.end = false, true, max(now, f.seen)
	}
	if f.settling {
		m.tellFreeze()
	}
}

func (m *Meter) tellFreeze() {
	f := m.freeze
	m.freeze = freeze{}
	m.tellOver(f)
}

// tellOver tells a freeze's end, and its beginning if nobody saw it in time.
func (m *Meter) tellOver(f freeze) {
	late, missed, excused := m.late.of(f.from, f.end), m.missed.within(f.from, f.end), m.excused(f.from, f.end)
	length := f.end - f.start
	doubt := f.never || excused > 0 && f.end-f.from-excused < f.limit
	if f.never {
		late = length
	}
	if m.own.any() && f.frames > 0 && !f.before && 2*f.step > f.end-f.last {
		doubt = true // its frames never came here, and something was lost here
	}
	if doubt {
		m.sec.doubt = true
		if !f.told && missed == 0 {
			return
		}
	} else {
		m.total.Freezes++
		m.total.Frozen += seconds(length)
		m.sec.freezes++
	}
	e := Event{
		ID: f.id, Phase: Ended, Kind: recording.EventStreamFreeze, Start: f.start, End: f.end,
		Value: seconds(length), Unit: "seconds", Of: m.main, Threshold: seconds(f.limit), Before: f.before, Why: f.reason,
		Pattern: None, ObserverLate: seconds(late), Missed: seconds(missed), Doubt: doubt,
	}
	m.fingerprint(f, &e)
	if !f.told {
		e.ID = m.queue.id()
		begun := e
		begun.Phase, begun.End = Begun, 0
		if !m.queue.tell(begun) {
			return
		}
	}
	m.queue.tell(e)
}

// fingerprint says what the gap looked like, where a frame ended it.
func (m *Meter) fingerprint(f freeze, e *Event) {
	if f.frames == 0 || f.fresh {
		return
	}
	e.Step, e.Burst = known(seconds(f.step)), max(f.frames, 1)
	if m.steps.typical > 0 {
		e.Burst = max(f.frames-int((f.at-f.end)/m.steps.typical), 1)
	}
	if !f.jumped {
		e.Pace = ratio(seconds(f.now-f.dts), seconds(f.at-f.last))
	}
	e.Pattern, _ = Fingerprint{
		Gap: seconds(f.end - f.last), Step: seconds(f.step), Spacing: seconds(m.steps.typical), Burst: e.Burst, Pace: e.Pace.V,
	}.Judge()
}
