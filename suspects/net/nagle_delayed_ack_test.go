package net

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/scene"
)

// A socket has no cookie in the rows from before the first dump, and is one socket
// all the same; two sockets on one flow, one after the other, are two.
func TestASocketBeforeItsCookieIsTheSame(t *testing.T) {
	for _, c := range []struct {
		cookies []uint64
		two     bool
	}{
		{[]uint64{0, 0, 9, 9}, false},
		{[]uint64{9, 9, 9, 9}, false},
		{[]uint64{9, 9, 10, 10}, true},
	} {
		r := &recording.Recording{Coverage: []recording.Coverage{{Probe: "sockets", State: recording.CoverageOK}}}
		for i, cookie := range c.cookies {
			r.Holds = append(r.Holds, recording.Hold{
				T: recording.Time(i+1) * 1e9, Netns: 1, Inode: 501, Cookie: cookie, PID: 71, Comm: "api-client",
				Local: "127.0.0.1:58580", Remote: "127.0.0.1:9000",
				Writes: 46, Held: 23, Released: 23, HoldSum: 0.98, HoldMax: 0.042,
			})
		}
		found := nagleDelayedAck.WeighBooked(scene.Build(r), r, nil)
		if len(found) != 1 {
			t.Fatalf("cookies %d: %d findings, want 1", c.cookies, len(found))
		}
		if got := strings.Contains(found[0].Text, "on 2 sockets"); got != c.two {
			t.Errorf("cookies %d: %q; want two sockets: %t", c.cookies, found[0].Text, c.two)
		}
	}
}
