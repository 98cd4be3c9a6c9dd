package drops

import (
	"net"
	"testing"
)

// What a closed socket's queue held is one row, however many flows it was of, and no drop is lost.
func TestPurgedQueuesAreCountedWithoutTheirFlows(t *testing.T) {
	const sockets, each = 20, 5
	var uncounted bool
	m, _ := record(t, func() {
		inNetns(t, func(uint64) {
			for range sockets {
				s, err := net.ListenPacket("udp4", "127.0.0.1:0")
				if err != nil {
					t.Error(err)
					return
				}
				send(t, s.LocalAddr().String(), each)
				_ = s.Close() // unread
			}
		})
	})
	var n uint64
	for _, d := range m.rec.Drops {
		if d.Reason != "QUEUE_PURGE" {
			uncounted = uncounted || d.Reason == ""
			continue
		}
		n += d.N
		if !d.Benign || d.Src != "" || d.Dst != "" || d.Inode != 0 {
			t.Errorf("a purged queue is not counted by its place alone: %+v", d)
		}
	}
	if uncounted && n == 0 {
		t.Skip("this kernel gives no reason QUEUE_PURGE (6.4 and later)")
	}
	if n < sockets*each {
		t.Errorf("%d packets of purged queues, want at least %d", n, sockets*each)
	}
}
