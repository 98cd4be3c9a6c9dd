package rtp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestClockUnwraps(t *testing.T) {
	c := clock{rate: 90000}
	first := c.at(math.MaxUint32 - 44999)
	for i, ts := range []uint32{0, 45000, 0, 90000} { // back, too, as with B-pictures
		want := []time.Duration{500, 1000, 500, 1500}[i] * time.Millisecond
		if got := time.Duration(c.at(ts) - first); got != want {
			t.Errorf("%d: %s after the first, want %s", ts, got, want)
		}
	}
	// 13 hours a wrap: ns must not overflow in 100 of them.
	for range 200 {
		c.at(c.last + 1<<31 - 1)
	}
	if h := time.Duration(c.ns(c.ticks)-first) / time.Hour; h < 1300 || h > 1400 {
		t.Errorf("%d hours", h)
	}
}

// RFC 3550 6.4.1 by hand: J += (|D|-J)/16.
func TestJitter(t *testing.T) {
	j := Jitter{Rate: 90000}
	ms := int64(time.Millisecond)
	j.Packet(0, 0)
	j.Packet(40*ms, 3600) // as it was sent
	if j.Seconds() != 0 {
		t.Errorf("%v without jitter", j.Seconds())
	}
	j.Packet(96*ms, 7200) // 16 ms late
	if got := j.Seconds(); math.Abs(got-0.001) > 1e-9 {
		t.Errorf("%v, want 0.001", got)
	}
	j.Packet(120*ms, 10800) // 16 ms back
	if got := j.Seconds(); math.Abs(got-(0.001+(0.016-0.001)/16)) > 1e-9 {
		t.Errorf("%v", got)
	}
	j.Packet(130*ms, 4e9) // the sender's clock was set: not jitter
	if got := j.Seconds(); got > 0.002 {
		t.Errorf("%v after a jump", got)
	}
}

// decode orders pictures as encoders with so many B-pictures send them.
func decode(frames, b int) []int64 {
	var pts []int64
	step := int64(40 * time.Millisecond)
	pts = append(pts, 0)
	for p := b + 1; p < frames; p += b + 1 {
		pts = append(pts, int64(p)*step)
		// With pyramids the middle one comes first.
		group := make([]int, 0, b)
		for i := 1; i <= b; i++ {
			group = append(group, p-b-1+i)
		}
		if b >= 3 {
			mid := group[b/2]
			group = slices.Insert(slices.Delete(group, b/2, b/2+1), 0, mid)
		}
		for _, g := range group {
			pts = append(pts, int64(g)*step)
		}
	}
	return pts
}

func TestOrderGivesEvenSteps(t *testing.T) {
	step := int64(40 * time.Millisecond)
	for b := range 5 {
		pts := decode(200, b)
		var o order
		o.learn(pts[:8])
		last := int64(math.MinInt64)
		for i, p := range pts {
			d := o.dts(p)
			if d > p {
				t.Fatalf("%d B-pictures: picture %d is decoded %d after it is shown", b, i, d-p)
			}
			if i > 0 && d-last != step {
				t.Fatalf("%d B-pictures: step of %s at picture %d", b, time.Duration(d-last), i)
			}
			last = d
		}
	}
}

func TestOrderWithoutReorderingIsExact(t *testing.T) {
	var o order
	o.learn([]int64{0, 10, 35})
	r := rand.New(rand.NewPCG(1, 2))
	pts := int64(35)
	for range 1000 {
		pts += r.Int64N(int64(time.Second))
		if d := o.dts(pts); d != pts {
			t.Fatalf("DTS %d, PTS %d", d, pts)
		}
	}
}

func TestOrderLearnsMoreLaterAndFollowsJumps(t *testing.T) {
	step := int64(40 * time.Millisecond)
	var o order
	o.learn([]int64{0, step, 2 * step})
	last := int64(math.MinInt64)
	late := 0
	for i, p := range decode(100, 2) {
		d := o.dts(3*step + p)
		if d < last {
			t.Fatalf("back at picture %d", i)
		}
		if i > 10 && d != last+step {
			late++
		}
		last = d
	}
	if late > 0 {
		t.Errorf("%d uneven steps after the reordering was seen", late)
	}
	if d := o.dts(last - int64(time.Hour)); d > last-int64(time.Minute) {
		t.Errorf("a clock set back by an hour is hidden: %s", time.Duration(last-d))
	}
}
