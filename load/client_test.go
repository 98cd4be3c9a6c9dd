package load

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"snag/load/protocol"
)

// report is what a Client reports of a request, after the start.
type report struct {
	due, end time.Duration
	kind     Kind
}

func (r report) took() time.Duration { return r.end - r.due }

// asClient runs a client of one connection that asks every 50 ms for one second, and returns its requests that ended.
func asClient(t *testing.T, to Target, c Client, timeout time.Duration) (out []report) {
	t.Helper()
	var open []report
	start := time.Now()
	c.Began = func(due time.Time) int64 {
		open = append(open, report{due: due.Sub(start)})
		return int64(len(open) - 1)
	}
	c.Ended = func(id int64, at time.Time, kind Kind, _ bool) {
		q := open[id]
		q.end, q.kind = at.Sub(start), kind
		out = append(out, q)
	}
	p := plan(to)
	p.Client, p.Rate, p.Conns, p.For, p.Timeout = &c, 20, 1, time.Second, timeout
	if _, err := Run(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	return out
}

func count(all []report, kind Kind) (n int) {
	for _, q := range all {
		if q.kind == kind {
			n++
		}
	}
	return n
}

// echo answers each message of 64 bytes; the first one after a pause.
func echo(pause time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		b := make([]byte, 64)
		for {
			if _, err := io.ReadFull(c, b); err != nil {
				return
			}
			time.Sleep(pause)
			pause = 0
			_, _ = c.Write(b)
		}
	}
}

func messages(t *testing.T, address string) Target {
	t.Helper()
	return target(t, "tcp://"+address, Request{Size: 64, Reply: 64})
}

// A pause of 400 ms delays the eight requests that fall due in it in an open loop. In a closed loop they are left out.
func TestClientLoops(t *testing.T) {
	for _, closed := range []bool{false, true} {
		all := asClient(t, messages(t, serving(t, echo(400*time.Millisecond))), Client{Closed: closed}, 5*time.Second)
		late := 0
		for _, q := range all {
			if q.took() > 45*time.Millisecond {
				late++
			}
		}
		if least := 18; !closed && (len(all) < least || late < 5) {
			t.Errorf("open loop: %d requests, want at least %d; %d late, want at least 5", len(all), least, late)
		}
		if closed && (len(all) > 14 || len(all) < 8 || late > 2) {
			t.Errorf("closed loop: %d requests, want 12 or so; %d late, want 1", len(all), late)
		}
	}
}

func TestClientConnections(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		var made atomic.Int64
		to := messages(t, serving(t, func(c net.Conn) { made.Add(1); echo(0)(c) }))
		all := asClient(t, to, Client{Fresh: fresh}, time.Second)
		if n := count(all, ""); n < 15 || n != len(all) {
			t.Fatalf("fresh %v: %d of %d requests answered", fresh, n, len(all))
		}
		if n := int(made.Load()); fresh && n != len(all) || !fresh && n != 1 {
			t.Errorf("fresh %v: %d connections for %d requests", fresh, n, len(all))
		}
	}
}

// Every request that finds nobody fails with its connection, 200 ms after the one before.
func TestClientRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	all := asClient(t, messages(t, l.Addr().String()), Client{Closed: true}, time.Second)
	if n := count(all, Refused); n != len(all) || n < 4 || n > 6 {
		t.Errorf("%d of %d requests refused, want 5", n, len(all))
	}
}

// A connection that the service closes after each answer, while no request is open, fails the next request.
func TestClientMeetsTheEnd(t *testing.T) {
	to := messages(t, serving(t, func(c net.Conn) {
		b := make([]byte, 64)
		if _, err := io.ReadFull(c, b); err == nil {
			_, _ = c.Write(b)
		}
	}))
	all := asClient(t, to, Client{Closed: true}, time.Second)
	answered, failed := count(all, ""), count(all, Closed)+count(all, Reset)
	if answered < 3 || failed < 3 || answered+failed != len(all) || answered-failed > 1 {
		t.Errorf("%d answered and %d failed of %d: want them in turn", answered, failed, len(all))
	}
}

// In an open loop a request is given up so long after it was due; those that were due longer ago are given up at once.
func TestClientTimeout(t *testing.T) {
	silent := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	all := asClient(t, messages(t, serving(t, silent)), Client{}, 100*time.Millisecond)
	if n := count(all, NoAnswer); n < 3 || n != len(all) {
		t.Fatalf("%d of %d requests got no answer", n, len(all))
	}
	if first := all[0].took(); first < 100*time.Millisecond || first > 250*time.Millisecond {
		t.Errorf("the first request was given up after %s, want 100ms", first)
	}
	if last := all[len(all)-1]; last.took() < 200*time.Millisecond {
		t.Errorf("the last request was given up %s after it was due: it was not late", last.took())
	}
}

func TestClientPaused(t *testing.T) {
	start := time.Now()
	paused := func() bool { return time.Since(start) < 500*time.Millisecond }
	all := asClient(t, messages(t, serving(t, echo(0))), Client{Paused: paused}, time.Second)
	if len(all) < 6 || len(all) > 11 || all[0].due < 450*time.Millisecond {
		t.Errorf("%d requests, the first due after %s: want 10, after 500ms", len(all), all[0].due)
	}
}

// A handshake that nobody answers is a request that got no answer in time.
func TestClientLogin(t *testing.T) {
	own, err := protocol.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	server := &tls.Config{Certificates: []tls.Certificate{own}}
	silent := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	for kind, serve := range map[Kind]func(net.Conn){
		"":       func(c net.Conn) { echo(0)(tls.Server(c, server)) },
		NoAnswer: silent,
	} {
		to := messages(t, serving(t, serve))
		to.Protocol = protocol.OverTLS(to.Protocol, "localhost", "", true)
		timeout := 2 * time.Second
		if kind == NoAnswer {
			timeout = 150 * time.Millisecond
		}
		all := asClient(t, to, Client{Closed: true, Fresh: true}, timeout)
		if n := count(all, kind); n != len(all) || n < 2 {
			t.Errorf("%q: %d of %d requests", kind, n, len(all))
		}
	}
}
