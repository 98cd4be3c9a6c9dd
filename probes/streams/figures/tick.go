package figures

import (
	"snag/probes/streams/stream"
	"snag/recording"
)

// A Tick that comes a little early still ends its second.
const tickSlack = second / 20

// doubtOver is how much of a second the watch may be late before it says so.
const doubtOver = second / 5

// Tick tells the present. Freezes begin in it, so it is to be called every 100 to
// 250 ms; once a second it returns the figures and true.
func (m *Meter) Tick(now int64) (Second, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now = held(now)
	if m.sec.from == 0 {
		m.sec.from = now
	}
	m.ticked = now
	m.watchFreeze(now)
	if t := &m.track[stream.Audio]; m.main == stream.Audio && t.any && now-t.first >= 2*second {
		m.tellFirst(t.first) // no video by now: the audio is what there is
	}
	if now-m.sec.from < second-tickSlack {
		return Second{}, false
	}
	return m.endSecond(now), true
}

// Events appends what happened since the last call to buf and forgets it.
func (m *Meter) Events(buf []Event) []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.queue.take(buf)
}

// endSecond closes the second at now and gives its figures.
func (m *Meter) endSecond(now int64) Second {
	m.steps.weigh()
	m.flushSteps()
	m.watchAudio(now)
	s := &m.sec
	missed := m.missed.touches(s.from, now)
	if !m.o.Bursty && s.drifts >= 3 && !s.doubt && !missed && !m.freeze.stands && !m.freeze.settling {
		m.marked(mark{m.last, s.offLeast})
	}
	m.update(now)
	v := Second{
		T: s.from, Length: seconds(now - s.from), Main: m.main,
		Frozen: m.freeze.stands, Freezes: s.freezes,
		Pace: m.pace.value(), Variable: m.steps.variable(), Limit: seconds(m.limit()),
		GOP: m.gop.take(), Jumps: s.jumps, StepsBack: s.back, Missing: s.missing,
		Transport: Transport{m.transport.count, m.transport.gauge},
		Missed:    missed, Late: seconds(m.late.sum), Doubt: s.doubt || missed || m.own.any() || m.late.sum >= doubtOver,
		EventsLost: m.queue.lost, Total: m.total,
	}
	if m.freeze.stands {
		v.Since = m.freeze.start
		v.Freezes++
	}
	v.Video, v.Audio = m.ofKind(stream.Video, now, v.Length), m.ofKind(stream.Audio, now, v.Length)
	m.gaps(now, &v)
	v.Five = m.five.add(&v)
	m.sec, m.own = secondSums{from: now, apart: m.apart}, ownLoss{before: m.own.now}
	m.late.sum, m.queue.lost, m.transport.count = 0, 0, [stream.Counts]uint64{}
	return v
}

// ofKind is one kind's part of a second.
func (m *Meter) ofKind(kind stream.Kind, now int64, length float64) Track {
	t, k := &m.track[kind], &m.sec.kind[kind]
	v := Track{
		Present: t.any && (k.frames > 0 || now-t.last < m.awayAfter()),
		Frames:  k.frames, Keys: k.keys, Bytes: k.bytes,
	}
	m.rates(kind, now, length, &v)
	return v
}

// gaps fills in what is measured between frames.
func (m *Meter) gaps(now int64, v *Second) {
	t, s := &m.track[m.main], &m.sec
	switch {
	case t.any:
		v.Standing = known(max(seconds(now-t.last), 0))
		v.Gap = known(max(seconds(s.gap), v.Standing.V))
	case m.published != 0:
		v.Standing = known(max(seconds(now-m.published), 0))
		v.Gap = v.Standing
	}
	if s.drifts > 0 {
		v.Drift, v.DriftWorst = known(seconds(s.driftLeast)), known(seconds(s.driftWorst))
	}
	switch {
	case m.drift.stands:
		v.Lateness = known(seconds(m.drift.worst))
	case t.any && !m.freeze.stands:
		v.Lateness = known(0)
	}
	if sp := m.steps.typical; sp > 0 {
		v.Spacing = known(seconds(sp))
	}
	if a, p := &s.kind[stream.Audio], &s.kind[stream.Video]; a.frames > 0 && p.frames > 0 && s.jumps == 0 && !m.apart && !s.apart {
		v.Skew = known(seconds(p.off - a.off))
	}
	if m.o.Bursty && t.any && m.least.any {
		v.Buffer = known(max(seconds(m.limit()-(now-t.top-m.least.value)), 0))
	}
}

// update tells once a second how what stands is getting on.
func (m *Meter) update(now int64) {
	if f := &m.freeze; f.stands && f.told {
		m.queue.tell(Event{
			ID: f.id, Phase: Updated, Kind: recording.EventStreamFreeze, Start: f.start, Of: m.main,
			Value: seconds(now - f.start), Unit: "seconds", Threshold: seconds(f.limit), Before: f.before, Why: f.reason,
			ObserverLate: seconds(m.late.within(f.from, now)), Missed: seconds(m.missed.within(f.from, now)),
		})
	}
	if m.drift.stands && m.drift.told {
		m.queue.tell(m.lateEvent(Updated))
	}
	if m.pace.stands && m.pace.told {
		m.queue.tell(m.slowEvent(Updated))
	}
	if m.falls.told {
		m.queue.tell(m.fallEvent(Updated))
	}
}

// awayAfter is for how long a kind's frames may stay away until there are none, ns.
func (m *Meter) awayAfter() int64 {
	if m.o.Bursty {
		return max(audioAway, 3*m.target())
	}
	return audioAway
}

// watchAudio reports that audio stays away while the video comes, and that it is back.
func (m *Meter) watchAudio(now int64) {
	a := &m.track[stream.Audio]
	if m.main != stream.Video || !a.any || m.sec.kind[stream.Video].frames == 0 || m.missed.touches(a.last, now) && !m.gone {
		return
	}
	wait := m.awayAfter()
	was := m.said[stream.Audio].Codec
	if was == "" {
		was = "present"
	}
	// Up to the video's last frame: where nothing came, audio is not what is missing.
	until := m.track[stream.Video].last
	switch away := until-max(a.last, m.resumed) >= wait || m.gone && until-a.last >= wait; {
	case away && !m.gone:
		m.gone = true
		m.queue.tell(Event{
			ID: m.queue.id(), Kind: recording.EventStreamChanged, Start: a.last, End: a.last,
			Of: stream.Audio, What: "audio", From: was, To: "none",
		})
	case !away && m.gone:
		m.gone = false
		m.queue.tell(Event{
			ID: m.queue.id(), Kind: recording.EventStreamChanged, Start: now, End: now,
			Of: stream.Audio, What: "audio", From: "none", To: was,
		})
	}
}
