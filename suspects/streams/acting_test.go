package streams

import (
	"slices"
	"testing"
	"time"

	"snag/recording"
	"snag/scene"
)

// A link acts before its stream suffers, too: what its connection showed then counts.
func TestWhenALinkActed(t *testing.T) {
	t.Parallel()
	at := func(i int) recording.Time { return recording.Time(i) * recording.Time(time.Second) }
	k := &scene.Socket{}
	row := func(i, sendQ, backoff int, acked uint64, rtt float64) {
		k.Rows = append(k.Rows, recording.Socket{T: at(i), SendQ: sendQ, TCP: &recording.TCPInfo{Backoff: backoff, BytesAcked: acked, RTT: rtt, MinRTT: 0.001}})
	}
	row(0, 300_000, 0, 100, 0.5) // it queues
	row(1, 300_000, 0, 200, 1.5)
	row(2, 0, 0, 900, 0.002)       // all is well
	row(3, 200_000, 0, 990, 0.002) // a key frame, and the round trip does not grow
	row(4, 200_000, 0, 1000, 0.002)
	row(5, 300_000, 2, 1000, 0.002) // its timer ran out
	row(6, 400_000, 3, 1000, 0.002)
	row(7, 400_000, 3, 2000, 0.002) // something came through
	if got := queueing(k, 1000); !slices.Equal(got, []recording.Interval{{Start: at(0), End: at(1)}}) {
		t.Errorf("it queued in %v", got)
	}
	if got := swallowing(k, 1000); !slices.Equal(got, []recording.Interval{{Start: at(4), End: at(5)}, {Start: at(5), End: at(6)}}) {
		t.Errorf("it swallowed all in %v", got)
	}
}
