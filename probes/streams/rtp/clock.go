package rtp

import (
	"math"
	"time"
)

// clock counts a track's 32-bit timestamps on beyond their wrap.
type clock struct {
	rate  int64 // ticks per second
	ok    bool
	last  uint32
	ticks int64
}

// at returns the time of a timestamp, ns since the clock's tick 0. Timestamps may
// go back (B-pictures); the nearer way round is taken.
func (c *clock) at(ts uint32) int64 {
	if !c.ok {
		c.ok, c.last, c.ticks = true, ts, int64(ts)
	}
	c.ticks += int64(int32(ts - c.last))
	c.last = ts
	return c.ns(c.ticks)
}

// peek is at without moving the clock.
func (c *clock) peek(ts uint32) int64 { return c.ns(c.ticks + int64(int32(ts-c.last))) }

// ns does not overflow: ticks times 1e9 would after 28 h at 90 kHz.
func (c *clock) ns(ticks int64) int64 {
	return ticks/c.rate*int64(time.Second) + ticks%c.rate*int64(time.Second)/c.rate
}

// Jitter is the interarrival jitter of RFC 3550 6.4.1 (A.8), of packets in the
// order in which they came.
type Jitter struct {
	Rate    uint32 // ticks per second
	ok      bool
	at      int64
	ts      uint32
	dts     int64
	seconds float64
}

// Packet takes a packet's arrival (ns) and timestamp.
func (j *Jitter) Packet(at int64, ts uint32) {
	if j.ok {
		j.step(at-j.at, float64(int32(ts-j.ts))/float64(max(j.Rate, 1)))
	}
	j.ok, j.at, j.ts = true, at, ts
}

// picture takes a picture's first packet and DTS, both ns. Where there are
// B-pictures the timestamps of packets go to and fro, and RFC 3550's figure is of
// that (RFC 5450 1 has the same trouble); against the DTS it is of the network.
func (j *Jitter) picture(at, dts int64) {
	if j.ok {
		j.step(at-j.at, float64(dts-j.dts)/1e9)
	}
	j.ok, j.at, j.dts = true, at, dts
}

func (j *Jitter) step(arrival int64, media float64) {
	// A jump of the timestamps is not jitter; without this one of an hour would
	// stand in the figure for 200 packets.
	if d := math.Abs(float64(arrival)/1e9 - media); d < 10 {
		j.seconds += (d - j.seconds) / 16
	}
}

// Seconds is the jitter as it stands.
func (j *Jitter) Seconds() float64 { return j.seconds }

// Reset begins anew: the sender has.
func (j *Jitter) Reset() { j.ok = false }
