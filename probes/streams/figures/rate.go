package figures

import "snag/probes/streams/stream"

// opening is how a track begins: with what a server has kept (a GOP cache), which it
// sends at once. Of it are the first frame and those that come earlier by their
// timestamps than all before. It says nothing of the frames and bytes that a second
// has: these are not measured in a second that has some of it.
type opening struct {
	over  bool
	began int64 // arrival of the first frame
	last  int64 // of the newest that is of it
	least int64 // of arrival less DTS
}

const (
	openingStep  = second / 100 // earlier by less is jitter
	openingStays = second / 2   // it is over when none of it came for so long: a round trip and more
	openingMost  = 5 * second   // what comes too fast for longer is how the stream is
)

// has reports whether a frame is of it.
func (o *opening) has(v moved) bool {
	switch {
	case v.first:
		*o = opening{began: v.at, last: v.at, least: v.off()}
		return true
	case o.over || v.at-o.last > openingStays || v.at-o.began > openingMost:
		o.over = true
		return false
	case v.off() >= o.least-openingStep:
		return false
	}
	o.least, o.last = v.off(), v.at
	return true
}

// media is what came over how much DTS, of about the last ten seconds of it: so a
// segment that comes at once and nothing until the next is the rate that it has.
type media struct {
	frames, bytes float64
	ns            int64
}

const mediaOver = 10 * second

func (r *media) add(frames int, bytes, ns int64) {
	r.frames, r.bytes, r.ns = r.frames+float64(frames), r.bytes+float64(bytes), r.ns+ns
	for r.ns > mediaOver {
		r.frames, r.bytes, r.ns = r.frames/2, r.bytes/2, r.ns/2
	}
}

// rates fills in frames and bits per second of a kind, at the end of a second: by
// arrival, of a bursty transport by DTS over what arrived.
func (m *Meter) rates(kind stream.Kind, now int64, length float64, v *Track) {
	t, k := &m.track[kind], &m.sec.kind[kind]
	if t.steps > 0 {
		v.FPSDTS = ratio(float64(t.steps), seconds(t.top-t.since))
	}
	t.media.add(t.steps, t.bytes, t.top-t.since)
	if kind == stream.Video {
		m.fallen(now, t.steps, t.bytes, t.top-t.since)
	}
	t.since, t.steps, t.bytes = t.top, 0, 0
	frozen := kind == m.main && m.freeze.stands
	switch {
	case !m.o.Bursty && t.any && !k.opening:
		v.FPS, v.Bitrate = ratio(float64(k.frames), length), ratio(float64(k.bytes)*8, length)
	case frozen || m.o.Bursty && t.any && now-t.last >= m.limit():
		v.FPS, v.Bitrate = known(0), known(0)
	case m.o.Bursty:
		v.FPS, v.Bitrate = ratio(t.media.frames, seconds(t.media.ns)), ratio(t.media.bytes*8, seconds(t.media.ns))
		v.FPSDTS = v.FPS
	}
}
