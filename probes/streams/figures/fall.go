package figures

import (
	"math"
	"slices"

	"snag/probes/streams/stream"
	"snag/recording"
	"snag/recording/fell"
)

// falls finds where a stream comes in time and is less than it was: its frame rate or its bit rate
// fell. It goes by seconds of media, by the timestamps: what is late, or comes in bursts, is not less.
type falls struct {
	// By the second of media, of the last 90; while a fall stands, those before it and the newest.
	frames, bytes []float64
	keys          []bool
	cut           int    // where those before it end
	kind          string // of what stands: recording.EventStream…; "" for nothing
	told          bool
	id            uint64
	from          int64
	base, now     float64  // its rate before, and the least since
	good          int      // newest seconds in which it is back
	back          [2]int64 // when it last came back, the older first
}

const (
	fallBefore  = 2 * fell.Least
	fallGOP     = 30 // of longer ones the bytes of a second tell nothing
	fallHistory = 90
	fallGood    = 3 // seconds in which the rate is back until the fall is over: one rich key frame is none
	// A stream that came back from two falls by itself within this time is one that is often less
	// (a shared screen at rest): it is told again only if it stays so for as long.
	fallAgain = 600 * second
)

// forget leaves behind what was: the stream begins anew, or is another one now.
func (f *falls) forget() {
	f.frames, f.bytes, f.keys, f.cut, f.kind, f.told = f.frames[:0], f.bytes[:0], f.keys[:0], 0, "", false
}

// drop forgets seconds.
func (f *falls) drop(from, to int) {
	f.frames, f.bytes, f.keys = slices.Delete(f.frames, from, to), slices.Delete(f.bytes, from, to), slices.Delete(f.keys, from, to)
}

// fallen takes what came of the video in a second: so many frames and bytes over ns by the
// timestamps. What has a hole is none that can be compared.
func (m *Meter) fallen(now int64, frames int, bytes, ns int64) {
	f, t, s := &m.falls, &m.track[stream.Video], &m.sec
	hole := t.hole || m.own.any() || m.missed.touches(s.from, now)
	t.hole = false
	whole := int(math.Round(seconds(ns)))
	if m.main != stream.Video || hole || frames <= 0 || whole > fallHistory {
		return
	}
	for i := range whole { // of segments several
		f.frames, f.bytes = append(f.frames, float64(frames)/seconds(ns)), append(f.bytes, float64(bytes)/seconds(ns))
		f.keys = append(f.keys, i == 0 && s.kind[stream.Video].keys > 0)
		m.judgeFall(now)
	}
}

func (m *Meter) tellFall() {
	m.falls.id = m.queue.id()
	m.falls.told = m.queue.tell(m.fallEvent(Begun))
}

func (m *Meter) fallEvent(p Phase) Event {
	f := &m.falls
	e := Event{ID: f.id, Phase: p, Kind: f.kind, Start: f.from, Of: stream.Video, Value: f.now, Base: f.base, Unit: "frames per second"}
	if f.kind == recording.EventStreamBitsFell {
		e.Value, e.Base, e.Unit = 8*f.now, 8*f.base, "bits per second"
	}
	return e
}

// endFall ends what stands at a time; why, where not because the rate is back.
func (m *Meter) endFall(at int64, why string) {
	f := &m.falls
	if f.kind == "" {
		return
	}
	if f.told {
		e := m.fallEvent(Ended)
		e.End, e.Why = max(at, e.Start), why
		m.queue.tell(e)
	}
	f.kind, f.told = "", false
}
