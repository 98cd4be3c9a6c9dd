package sockets

import (
	"testing"
	"time"
)

// The longer a dump of all sockets takes, the later the next one comes, so that dumps keep within their share of the
// time; of a few sockets there is one every 5 s, or 10 s.
func TestDumpsAreRarerWhereTheyTakeLong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took       time.Duration
		least      int
		continuous bool
		want       int // s
	}{
		{5 * time.Millisecond, 5, false, 5},
		{5 * time.Millisecond, 10, true, 10},
		{15 * time.Millisecond, 5, false, 5},   // 10,000 sockets
		{100 * time.Millisecond, 5, false, 5},  // a twentieth of 5 s is 250 ms
		{400 * time.Millisecond, 5, false, 8},  // 400 ms of 8 s
		{time.Second, 5, false, 20},            // 1 of 20
		{15 * time.Millisecond, 10, true, 10},  // 7.5 s
		{100 * time.Millisecond, 10, true, 50}, // 100 ms of 50 s
	} {
		if got := untilFull(c.took, c.least, c.continuous); got != c.want {
			t.Errorf("%s, continuous %t: the next in %d s, want %d", c.took, c.continuous, got, c.want)
		}
	}
}
