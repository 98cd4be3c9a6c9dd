package load

import (
	"context"
	"net"
	"testing"
	"time"

	"snag/load/shape"
)

// Nagle's algorithm delays each message by 40 ms, on either side, however often a connection is asked. A sweep names
// the option that frees it.
func TestASweepFindsNagle(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // an answer in two writes, with Nagle's algorithm
				_ = c.(*net.TCPConn).SetNoDelay(false)
				b := make([]byte, 100)
				for {
					if _, err := c.Read(b); err != nil {
						return
					}
					_, _ = c.Write(b[:50])
					_, _ = c.Write(b[50:])
				}
			}()
		}
	}()
	on, off := true, false
	for _, tt := range []struct {
		freed string
		to    Target
		set   *bool
	}{
		{"TCP_NODELAY", null(t, "tcp://127.0.0.1:1", Request{Size: 100, Reply: 100, Split: []int{20, 80}}), &off},
		{"TCP_QUICKACK", target(t, "tcp://"+l.Addr().String(), Request{Size: 100, Reply: 100}), &on},
		{"", null(t, "tcp://127.0.0.1:1", Request{Size: 100, Reply: 100, Split: []int{20, 80}}), &on},
	} {
		t.Run("freed by "+tt.freed, func(t *testing.T) {
			t.Parallel()
			// The first answers of a connection are acknowledged at once.
			p := plan(tt.to)
			p.Conns, p.Warm, p.For, p.Options.NoDelay = 10, 500*time.Millisecond, 300*time.Millisecond, tt.set
			s := Sweep{Plan: p, Conns: []int{10}}
			slow := shape.Point{Rate: 2000, Conns: 10, Answers: 240, P50: 0.041}
			points := []shape.Point{slow, slow, slow}
			got := Read(context.Background(), s, points, func(string) {})
			if got.Freed != tt.freed {
				t.Errorf("freed by %q, want %q: %v", got.Freed, tt.freed, got.Sentences)
			}
		})
	}
}
