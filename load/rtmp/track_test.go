package rtmp

import (
	"math"
	"testing"
	"time"
)

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func TestTrack(t *testing.T) {
	var even track
	for i := range 101 {
		even.frame(ms(500+40*i), uint32(7000+40*i))
	}
	even.end(ms(4600))
	if rate, own := even.rate(); even.frames != 101 || even.freezes != 0 || even.fellBehind() != 0 || math.Abs(rate-25) > 0.01 || math.Abs(own-25) > 0.01 {
		t.Errorf("even: %+v", even)
	}
	// A server that sends half a second at once, then in time; a freeze of 1.5 s, after which nothing is made up;
	// and one that lasts until the end.
	var bad track
	stamp := uint32(math.MaxUint32 - 200) // it wraps
	at := 0
	for i := range 100 {
		switch {
		case i == 50:
			at += 1540
		case i > 12:
			at += 40
		}
		bad.frame(ms(at), stamp+uint32(40*i))
	}
	bad.end(ms(at + 1200))
	if bad.freezes != 2 || bad.frozen != ms(1540+1200) || bad.media != ms(99*40) {
		t.Errorf("freezes: %+v", bad)
	}
	if d := bad.fellBehind(); d != ms(1500) {
		t.Errorf("it fell behind by %v", d)
	}
	var none track
	none.end(ms(9000))
	if rate, own := none.rate(); none.freezes != 0 || rate != 0 || own != 0 {
		t.Errorf("nothing came: %+v", none)
	}
}
