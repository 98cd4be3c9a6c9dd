package passive

import (
	"math"

	"snag/probes/streams/flv"
	"snag/probes/streams/stream"
)

// clock puts a track's timestamps on one line of nanoseconds.
//
// A sender that writes only deltas (nginx-rtmp and ffmpeg do, after the first
// message) tells a capture that began mid-way no origin. Then the track begins
// where the other one is, by arrival. After a hole whose deltas are lost it goes on
// by as much as arrival did: that accuses and clears nobody.
type clock struct {
	raw      flv.Clock
	base     int64 // ns: what is given out, less raw
	out, at  int64 // the last given out, and its arrival
	set      bool
	moved    bool // base is a guess
	lost     bool // deltas were lost
	relative bool
}

// clocks are of video and audio.
type clocks [2]clock

// lost says that timestamps start anew.
func (c *clocks) lost() {
	for i := range c {
		c[i].raw, c[i].lost = flv.Clock{}, true
	}
}

// dts places a timestamp (ms, wrapping) of one track.
func (c *clocks) dts(kind int, at int64, stamp uint32, relative bool) int64 {
	t := &c[kind]
	raw := t.raw.NS(stamp)
	fresh := !t.set || t.lost || t.relative && !relative
	if fresh {
		t.place(&c[1-kind], at, raw, relative)
	}
	t.set, t.lost, t.relative = true, false, relative
	t.out, t.at = raw+t.base, at
	if fresh && c.known() {
		c.join()
	}
	return t.out
}

// known says that both tracks' timestamps count from the stream's own origin, so
// that one can be set against the other.
func (c *clocks) known() bool { return c[0].own() && c[1].own() }

func (t *clock) own() bool { return t.set && !t.lost && !t.relative }

// join puts the audio's timestamps on the video's line, now that both are known:
// the audio's move by the difference, once. They may lie on two sides of the wrap
// of 32-bit milliseconds.
func (c *clocks) join() {
	v, a := &c[stream.Video], &c[stream.Audio]
	const turn = float64(1<<32) * 1e6
	raw := a.out - a.base
	turns := math.Round(float64(v.out-raw-v.base) / turn)
	a.base = v.base + int64(turns*turn)
	a.out, a.moved = raw+a.base, v.moved
}

func (t *clock) place(other *clock, at, raw int64, relative bool) {
	t.base = 0
	switch {
	case !relative && !t.moved && !other.moved:
		return // the stream's own origin
	case t.set:
		t.base = t.out + at - t.at - raw
	case other.set:
		t.base = other.out + at - other.at - raw
	default:
		t.base = -raw
	}
	t.moved = true
}
