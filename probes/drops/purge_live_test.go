package drops

import (
	"net"
	"testing"
)

// What a closed socket's queue held is counted, and by its place alone.
func TestPurgedQueuesAreCountedWithoutTheirFlows(t *testing.T) {
	const connections = 20
	var uncounted bool
	m, _ := record(t, func() {
		inNetns(t, func(uint64) {
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			for range connections {
				hangUp(t, l)
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
	if n < connections {
		t.Errorf("%d packets of purged queues, want at least %d", n, connections)
	}
}

// hangUp makes a connection that both ends close, the server first: a FIN comes to a socket that
// nobody reads any more.
func hangUp(t *testing.T, l net.Listener) {
	t.Helper()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Error(err)
		return
	}
	_ = s.Close()
	_, _ = c.Read(make([]byte, 1))
}
