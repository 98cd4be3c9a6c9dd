package load

import (
	"context"
	"io"
	"math"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// workers is a service of so many workers, each of which takes so long for a message of 64 bytes. Messages wait for a
// worker in the order in which they came. done is how many were answered.
func workers(t *testing.T, n int, takes time.Duration) (to Target, done *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done = &atomic.Int64{}
	queue := make(chan func(), 10_000)
	t.Cleanup(func() { l.Close() })
	for range n {
		go func() {
			for answer := range queue {
				time.Sleep(takes)
				answer()
				done.Add(1)
			}
		}()
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for {
					b := make([]byte, 64)
					if _, err := io.ReadFull(c, b); err != nil {
						return
					}
					queue <- func() { _, _ = c.Write(b) }
				}
			}()
		}
	}()
	return target(t, "tcp://"+l.Addr().String(), Request{Size: 64, Reply: 64}), done
}

func sessionsPlan(to Target, conns int, every time.Duration) Plan {
	p := plan(to)
	p.Sessions, p.Conns, p.Rate, p.Deadline = true, conns, float64(conns)/every.Seconds(), every
	return p
}

// Each worker of four takes 20 ms: 200 messages per second, or less where the host is busy. 30 sessions of one each
// 100 ms need 300. The delay grows by what the arithmetic says.
func TestTheDelayOfSessionsGrowsAsPredicted(t *testing.T) {
	for attempt := 1; ; attempt++ {
		to, done := workers(t, 4, 20*time.Millisecond)
		p := sessionsPlan(to, 30, 100*time.Millisecond)
		p.For = 3 * time.Second
		began := time.Now()
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		s := r.Sessions
		if s == nil || s.Growth == nil || s.Predicted == nil || s.Missed == nil || s.FirstMissed == nil || s.Worst == nil {
			t.Fatalf("%+v", s)
		}
		if *s.Missed != 30 || s.Silent != 0 || *s.Growth <= 0 || *s.Worst < *s.Growth || *s.FirstMissed > p.For {
			t.Errorf("%d missed, %d silent, %.3f s/s, at worst %.3f, from %v on", *s.Missed, s.Silent, *s.Growth, *s.Worst, *s.FirstMissed)
		}
		if n, known := s.Carries(); !known || n < 1 || n > 20 {
			t.Errorf("enough for %d, %v", n, known)
		}
		truth := float64(done.Load()) / time.Since(began).Seconds()
		off, offTruth := *s.Growth / *s.Predicted - 1, *s.Capacity/truth-1
		t.Logf("measured %.3f s/s, by arithmetic %.3f (%+.1f %%); %.0f answers/s, the service says %.0f", *s.Growth, *s.Predicted, 100*off, *s.Capacity, truth)
		if math.Abs(off) <= 0.15 && math.Abs(offTruth) <= 0.15 {
			return
		}
		if attempt == 3 { // the host may be busy with something else
			t.Fatalf("three times: predicted and measured differ by more than 15 %%")
		}
	}
}

// A service that keeps up shows no capacity, and what did not happen is not zero.
func TestSessionsThatAreServedInTime(t *testing.T) {
	to, _ := workers(t, 4, time.Millisecond)
	p := sessionsPlan(to, 20, 400*time.Millisecond) // a busy machine answers within that
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Sessions
	if _, known := s.Carries(); known || s.Capacity != nil || s.Predicted != nil || s.Growth == nil || *s.Missed != 0 || s.FirstMissed != nil || s.Silent != 0 || s.Needed != 50 {
		t.Errorf("%+v", s)
	}
	p.Deadline = 0
	if r, err = Run(context.Background(), p); err != nil || r.Sessions.Missed != nil {
		t.Errorf("without a deadline: %+v, %v", r.Sessions, err)
	}
}

// A service that serves the first two connections and none of the others: those have no answer, and missed their
// deadline all the same.
func TestSessionsWithoutAnAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if n < 2 {
				go func() { _, _ = io.Copy(c, c) }()
			}
		}
	}()
	p := sessionsPlan(target(t, "tcp://"+l.Addr().String(), Request{Size: 8, Reply: 8}), 6, 300*time.Millisecond)
	p.Timeout = 5 * time.Second
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Sessions; s.Silent != 4 || *s.Missed != 4 || s.FirstMissed == nil || *s.FirstMissed > 500*time.Millisecond {
		t.Errorf("%+v", s)
	}
	p.Rate = 0
	if _, err := Run(context.Background(), p); err == nil || !strings.Contains(err.Error(), "a session sends at a rate") {
		t.Errorf("%v", err)
	}
}
