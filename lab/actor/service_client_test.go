package actor

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"snag/lab/clientlog"
	"snag/load"
)

// A client in open loop that has fallen behind by more than its timeout asks what falls due from
// then on, once its schedule begins anew. Without that it gives up one request after another.
func TestAskAnew(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var answers atomic.Bool
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				buf := make([]byte, 16)
				for {
					if _, err := io.ReadFull(conn, buf); err != nil {
						return
					}
					if answers.Load() {
						_, _ = conn.Write(buf)
					}
				}
			}()
		}
	}()
	for _, anew := range []bool{false, true} {
		answers.Store(false)
		path := filepath.Join(t.TempDir(), "log")
		w, err := clientlog.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		c := asking{to: l.Addr().String(), conns: 1, every: 20 * time.Millisecond, timeout: 100 * time.Millisecond, size: 16, open: true, log: w, busy: toggled(true), restarts: &atomic.Int64{}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			if _, err := load.Run(ctx, c.plan()); err != nil {
				t.Error(err)
			}
			close(ended)
		}()
		time.Sleep(600 * time.Millisecond)
		answers.Store(true)
		now := time.Now()
		if anew {
			c.restarts.Add(1)
		}
		time.Sleep(900 * time.Millisecond)
		cancel()
		<-ended
		w.Close()
		log, err := clientlog.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		answered := 0
		for _, r := range log.Requests {
			if !r.Start.Before(now) && r.Outcome == clientlog.OK {
				answered++
			}
		}
		if anew != (answered >= 10) {
			t.Errorf("anew %v: %d requests answered", anew, answered)
		}
	}
}
