package load

import (
	"context"
	"math"
	"net"
	"sync"
	"testing"
	"time"
)

// oneByOne answers messages of 8 bytes one after the other, whatever connection they come on. done is when it
// answered each.
func oneByOne(t *testing.T, takes time.Duration) (to Target, done func() []time.Time) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex
	var all []time.Time
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				b := make([]byte, 8)
				for {
					n, err := c.Read(b)
					if err != nil {
						return
					}
					mu.Lock()
					time.Sleep(takes)
					all = append(all, time.Now())
					_, _ = c.Write(b[:n])
					mu.Unlock()
				}
			}()
		}
	}()
	return target(t, "tcp://"+l.Addr().String(), Request{Size: 8, Reply: 8}), func() []time.Time {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// With five times the requests that a service can answer, the rate is what it answers, and the wait grows by
// what the arithmetic says.
func TestTheRateOfAnOverloadedService(t *testing.T) {
	to, done := oneByOne(t, 5*time.Millisecond)
	p := plan(to)
	p.Rate, p.Conns, p.Warm, p.For = 1000, 4, 300*time.Millisecond, 1500*time.Millisecond
	began := time.Now()
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	within := 0.0
	for _, at := range done() {
		if d := at.Sub(began); d > p.Warm && d < p.Warm+p.For {
			within++
		}
	}
	if truth := within / p.For.Seconds(); math.Abs(r.Rate()/truth-1) > 0.1 {
		t.Errorf("%.0f answers per second, and the service gave %.0f", r.Rate(), truth)
	}
	// Four connections wait for one worker: 20 ms.
	if p50 := time.Duration(r.FromSent.ValueAtQuantile(50)); r.FromSent.TotalCount() < int64(within)/2 || p50 < 15*time.Millisecond || p50 > 60*time.Millisecond {
		t.Errorf("half within %v, of %d answers", p50, r.FromSent.TotalCount())
	}
	if measured, predicted := r.Growth(); math.Abs(measured/predicted-1) > 0.1 || predicted < 0.7 {
		t.Errorf("each second adds %.2f s to the wait, %.2f by arithmetic", measured, predicted)
	}
}

// Answers that come later than the time at the start that does not count are no lack of answers.
func TestTheRateOfASlowService(t *testing.T) {
	address := echoAfter(t, func() {
		time.Sleep(300 * time.Millisecond)
	})
	p := plan(target(t, "tcp://"+address, Request{Size: 8, Reply: 8}))
	p.Rate, p.Conns, p.Warm, p.For = 50, 40, 50*time.Millisecond, 600*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil || math.Abs(r.Rate()/50-1) > 0.1 {
		t.Errorf("%.0f answers per second of 50 (%v)", r.Rate(), err)
	}
}
