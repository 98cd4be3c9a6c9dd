package stream

import "testing"

func TestClock90CountsOnBeyondItsWrap(t *testing.T) {
	var c Clock90
	const wrap = 1 << 33
	for _, s := range []struct {
		v    uint64
		want int64
	}{{wrap - 3000, wrap - 3000}, {600, wrap + 600}, {wrap - 10, wrap - 10}, {3600, wrap + 3600}, {90000, wrap + 90000}} {
		if got := c.Ticks(s.v); got != s.want {
			t.Errorf("%d: %d, want %d", s.v, got, s.want)
		}
	}
	if got, want := c.NS(180000), (int64(wrap)+180000)/9*100000+(int64(wrap)+180000)%9*100000/9; got != want {
		t.Errorf("%d ns, want %d", got, want)
	}
	// Nine wraps on, in steps of an hour: the time goes on evenly.
	c = Clock90{}
	before := int64(-1)
	for i := range uint64(9 * 27) {
		at := c.NS(i * 3600 * 90000 % wrap)
		if before >= 0 && at-before != 3600e9 {
			t.Fatalf("hour %d: a step of %d ns", i, at-before)
		}
		before = at
	}
}
