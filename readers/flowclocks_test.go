package readers

import (
	"math"
	"testing"
	"time"

	"snag/recording"
)

// looks are what a host sees of a connection once a second: bytes flow at 1000 B/s each way, and its clock is ahead.
func looks(local, remote string, first float64, ahead, way time.Duration, n int) map[flowEnds][]recording.Socket {
	out := map[flowEnds][]recording.Socket{}
	for i := range n {
		when := first + float64(i) + 0.013*float64(i%7) // true time, s
		sent := uint64(1000 * when)
		got := uint64(1000 * max(0, when-way.Seconds()))
		acked := uint64(1000*max(0, when-2*way.Seconds())) + 1
		k := recording.Socket{T: recording.Time(when*1e9 + float64(ahead)), Proto: "tcp", Local: local, Remote: remote,
			TCP: &recording.TCPInfo{BytesSent: sent, BytesAcked: acked, BytesReceived: got}}
		at, _ := endsOf(k)
		out[at] = append(out[at], k)
	}
	return out
}

func TestClocksByTheBytesOfAConnection(t *testing.T) {
	for _, ahead := range []time.Duration{0, 3 * time.Millisecond, 40 * time.Second, -5 * time.Minute} {
		a := looks("10.0.0.1:40000", "10.0.0.2:80", 100, 0, time.Millisecond, 20)
		b := looks("10.0.0.2:80", "10.0.0.1:40000", 100.4, ahead, time.Millisecond, 20)
		low, high, n := aheadBy(a, b)
		if n != 1 || low > ahead.Seconds() || high < ahead.Seconds() || high-low > 1 {
			t.Errorf("%s ahead: between %.3f and %.3f s by %d", ahead, low, high, n)
		}
		back, forth, _ := aheadBy(b, a)
		if math.Abs(back+high) > 1e-9 || math.Abs(forth+low) > 1e-9 {
			t.Errorf("the other way round: between %.3f and %.3f s", back, forth)
		}
	}
}

// A connection without data, another one at the same addresses, and both ends in one recording say nothing.
func TestConnectionsThatSayNothingOfClocks(t *testing.T) {
	a := looks("10.0.0.1:40000", "10.0.0.2:80", 100, 0, time.Millisecond, 20)
	b := looks("10.0.0.2:80", "10.0.0.1:40000", 100, 0, time.Millisecond, 20)
	for _, rows := range b {
		for _, k := range rows[10:] {
			*k.TCP = recording.TCPInfo{BytesSent: 7, BytesReceived: 7, BytesAcked: 7}
		}
	}
	if low, high, n := aheadBy(a, b); n != 0 {
		t.Errorf("two connections at one address: between %.3f and %.3f s", low, high)
	}
	quiet := looks("10.0.0.1:40000", "10.0.0.2:80", 0, 0, 0, 1)
	if _, _, n := aheadBy(quiet, looks("10.0.0.2:80", "10.0.0.1:40000", 0, 0, 0, 1)); n != 0 {
		t.Error("a connection without data bounds the clocks")
	}
	r := &recording.Recording{}
	for _, of := range []map[flowEnds][]recording.Socket{a, b} {
		for _, rows := range of {
			r.Sockets = append(r.Sockets, rows...)
		}
	}
	if got := flowsOf(r); len(got) != 0 {
		t.Errorf("both ends are this host's: %v", got)
	}
}
