package rtp

import (
	"math"
	"testing"
	"time"
)

var film = Shape{Bitrate: 4e6, FPS: 25, GOP: 2 * time.Second, KeySize: 8}

// However the frames differ, the whole has the bit rate, and each packet its share.
func TestShape(t *testing.T) {
	for name, s := range map[string]Shape{
		"video": film, "key frames only": {Bitrate: 1e6, FPS: 10, GOP: 0, KeySize: 5}, "29.97": {Bitrate: 2.5e6, FPS: 30000. / 1001, GOP: time.Second, KeySize: 1},
		"few bytes": {Bitrate: 8000, FPS: 50, GOP: time.Second, KeySize: 3},
	} {
		seconds, bytes, packets := 60., 0, 0
		for f := int64(0); s.due(f, 0).Seconds() < seconds; f++ {
			sum := 0
			for i := range s.packets(f) {
				n := s.payload(f, i)
				if n < 1 || n > mostPayload {
					t.Fatalf("%s: packet %d of frame %d carries %d bytes", name, i, f, n)
				}
				sum += n
			}
			if sum != s.size(f) {
				t.Fatalf("%s: frame %d has %d bytes in its packets, of %d", name, f, sum, s.size(f))
			}
			bytes, packets = bytes+sum, packets+s.packets(f)
		}
		if rate := float64(bytes) * 8 / seconds; math.Abs(rate/s.Bitrate-1) > 0.01 {
			t.Errorf("%s: %.0f bit/s of %.0f", name, rate, s.Bitrate)
		}
		if rate := float64(packets) / seconds; math.Abs(rate/s.PacketRate()-1) > 0.01 {
			t.Errorf("%s: %.1f packets/s, PacketRate says %.1f", name, rate, s.PacketRate())
		}
	}
	if key, other := film.size(0), film.size(1); math.Abs(float64(key)/float64(other)-8) > 0.01 || film.size(50)-key > 1 || film.size(50) < key-1 || film.size(49) > other+1 {
		t.Errorf("a key frame of %d bytes, others of %d", key, other)
	}
	if film.stamp(25) != 90_000 {
		t.Errorf("the timestamp after a second is %d", film.stamp(25))
	}
}

func TestPacketsAreDue(t *testing.T) {
	paced := film
	paced.Pace = true
	n := film.packets(0)
	if n < 2 || film.due(0, n-1) != 0 || film.due(1, 0) != 40*time.Millisecond {
		t.Errorf("%d packets in a burst, the last after %v, the next frame after %v", n, film.due(0, n-1), film.due(1, 0))
	}
	for i := range n {
		want := 40 * time.Millisecond * time.Duration(i) / time.Duration(n)
		if got := paced.due(0, i); (got - want).Abs() > time.Microsecond {
			t.Errorf("paced: packet %d is due after %v, want %v", i, got, want)
		}
	}
	for _, s := range []Shape{film, paced} {
		for _, from := range []struct {
			frame int64
			i     int
		}{{0, 0}, {0, 3}, {7, 0}, {99, 0}} {
			count := int64(0)
			for f, i := from.frame, from.i; s.due(f, 0) < time.Second; f, i = f+1, 0 {
				for ; i < s.packets(f); i++ {
					if s.due(f, i) < time.Second {
						count++
					}
				}
			}
			if got := s.between(from.frame, from.i, time.Second); got != count {
				t.Errorf("paced %v: %d packets from %+v on, counted %d", s.Pace, got, from, count)
			}
		}
	}
}
