package load

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/load/shape"
)

// Messages of more than 1,000 bytes take 20 ms: a sweep over sizes finds from which one on.
func TestASweepOverSizes(t *testing.T) {
	serve := func(size int) func(net.Conn) {
		return func(c net.Conn) {
			b := make([]byte, size)
			for {
				if _, err := io.ReadFull(c, b); err != nil {
					return
				}
				if size > 1000 {
					time.Sleep(20 * time.Millisecond)
				}
				if _, err := c.Write(b[:1]); err != nil {
					return
				}
			}
		}
	}
	s := Sweep{From: 100, To: 100, Conns: []int{4}, Repeats: 3, Seed: 3}
	for _, size := range []int{256, 512, 1024, 2048} {
		s.Targets = append(s.Targets, SizedTarget{Size: size, Target: target(t, "tcp://"+takes(t, serve(size)), Request{Size: size, Reply: 1})})
	}
	s.Plan = plan(s.Targets[0].Target)
	s.Plan.For = 300 * time.Millisecond
	got, err := RunSweep(context.Background(), s, func(int, int, shape.Point) {})
	if err != nil || len(got.Points) != 12 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range got.Points { // this machine may be busy
		got.Points[i].Why = ""
	}
	read := Read(context.Background(), s, got.Points, func(string) {})
	if read.Cliff == nil || read.Cliff.Below.Size != 512 || read.Cliff.From.Size != 1024 || !strings.Contains(read.Sentences[0], "far slower from one size of messages on") {
		t.Errorf("%+v", read)
	}
}

// sulks is a service that takes 5 ms for a request, one after the other, and 18 ms for a while after
// more than six were open at a time.
type sulks struct {
	mu, turn sync.Mutex
	open     int
	until    time.Time
}

func (s *sulks) serve(c net.Conn) {
	b := make([]byte, 8)
	for {
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
		s.mu.Lock()
		if s.open++; s.open > 6 {
			s.until = time.Now().Add(900 * time.Millisecond)
		}
		takes := 5 * time.Millisecond
		if time.Now().Before(s.until) {
			takes = 18 * time.Millisecond
		}
		s.mu.Unlock()
		s.turn.Lock()
		time.Sleep(takes)
		s.turn.Unlock()
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

// Behind a limit it is tried whether the service is as fast as before, directly after too many requests. What to do
// with too many is said with the limit's numbers.
func TestAfterTooMany(t *testing.T) {
	service := &sulks{}
	p := plan(target(t, "tcp://"+takes(t, service.serve), Request{Size: 8, Reply: 8}))
	p.Conns, p.For, p.Deadline = 8, 400*time.Millisecond, 200*time.Millisecond
	low := shape.Point{Rate: 25, Conns: 8, Answers: 25, Sent: 25, Mean: 0.009, P50: 0.009}
	high := shape.Point{Rate: 400, Conns: 8, Answers: 100, Sent: 100, Mean: 0.06, P50: 0.06}
	read := Read(context.Background(), Sweep{Plan: p, Conns: []int{8}}, []shape.Point{low, low, low, high, high, high}, func(string) {})
	if read.Knee == nil || read.Hysteresis == nil || read.Hysteresis.After < 0.01 || read.Hysteresis.Rested > 0.01 {
		t.Errorf("%+v", read)
	}
	all := strings.Join(append(read.Sentences, read.Advice...), "\n")
	for _, want := range []string{"it answers at most", "After too many requests it stays slow", "At 400 requests/s it answers 100/s", "Clients that give up after 200ms"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
}

// Addresses and names of this host, and one that is another's (RFC 5737).
func TestHere(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{"127.0.0.1:9": true, "[::1]:9": true, "localhost:9": true, "192.0.2.1:9": false, "[2001:db8::1]:9": false} {
		if here, err := (Target{Address: host}).Here(context.Background()); err != nil || here != want {
			t.Errorf("%s: %v, %v", host, here, err)
		}
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		ip := a.(*net.IPNet).IP
		if ip.IsLinkLocalUnicast() {
			continue // it needs its zone
		}
		if here, err := (Target{Address: net.JoinHostPort(ip.String(), "9")}).Here(context.Background()); err != nil || !here {
			t.Errorf("%s: %v, %v", ip, here, err)
		}
	}
	if _, err := (Target{Address: "nothing.invalid:9"}).Here(context.Background()); err == nil {
		t.Error("a name that there is not")
	}
}
