package load

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// h2 is a server of Go that speaks HTTP/2 in the clear. most: SETTINGS_MAX_CONCURRENT_STREAMS.
func h2(t *testing.T, most int, answer http.HandlerFunc) Target {
	t.Helper()
	s := httptest.NewUnstartedServer(answer)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: most}
	s.Start()
	t.Cleanup(s.Close)
	return target(t, s.URL+"/", Request{HTTP2: true})
}

// most keeps the highest number of requests that were open at a time.
type most struct{ now, highest atomic.Int64 }

func (m *most) enter() {
	n := m.now.Add(1)
	for {
		high := m.highest.Load()
		if n <= high || m.highest.CompareAndSwap(high, n) {
			return
		}
	}
}

func (m *most) leave() { m.now.Add(-1) }

// One connection carries several requests at a time: with one it would be 20 answers per second.
func TestSeveralRequestsOnAConnection(t *testing.T) {
	var open most
	p := plan(h2(t, 100, func(w http.ResponseWriter, _ *http.Request) {
		open.enter()
		defer open.leave()
		time.Sleep(50 * time.Millisecond)
	}))
	p.Rate, p.Conns, p.Streams, p.Warm = 200, 1, 40, 100*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Done != r.Sent || r.Sent+r.Behind < 198 || r.Behind > 20 || !r.Lossless() || r.Failed > 0 || r.Honest() != "" {
		t.Errorf("%d sent, %d answered, %d errors, %d not sent, lost %v: %s", r.Sent, r.Done, r.Failed, r.Behind, r.Lost, r.Honest())
	}
	if r.Open < 8 || r.Open > 20 || open.highest.Load() < 5 || open.highest.Load() > 40 || len(r.Locals.Ports) != 1 {
		t.Errorf("%.1f open on average, %d at most, on %d connections", r.Open, open.highest.Load(), len(r.Locals.Ports))
	}
	if r.Streams != (Streams{}) {
		t.Errorf("%+v", r.Streams)
	}
}

// The server's own limit holds, and the requests that wait for it are counted; their times go on.
func TestTheServersLimitOfStreams(t *testing.T) {
	var open most
	to := h2(t, 4, func(w http.ResponseWriter, _ *http.Request) {
		open.enter()
		defer open.leave()
		time.Sleep(40 * time.Millisecond)
	})
	for _, tt := range []struct {
		rate   float64
		waited bool
	}{{20, false}, {300, true}} { // four at a time are 100 per second
		p := plan(to)
		p.Rate, p.Conns, p.Streams = tt.rate, 1, 30
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if l := r.Streams.Limit; l == nil || *l != 4 || tt.waited != (r.Streams.Waited > 20) || r.Failed > 0 || r.Unasked > 0 || open.highest.Load() > 4 {
			t.Errorf("%g/s: %+v, %d at most, %d errors", tt.rate, r.Streams, open.highest.Load(), r.Failed)
		}
		if due, sent := r.FromDue.Mean()/1e9, r.FromSent.Mean()/1e9; tt.waited && (due < 2*sent || r.Behind == 0) {
			t.Errorf("%.3f s since due, %.3f s since sent, %d not sent", due, sent, r.Behind)
		}
	}
}

// Bodies that are larger than all windows together arrive whole, on all streams.
func TestWindowsOfSeveralStreams(t *testing.T) {
	const size = 300_000
	var short atomic.Int64
	to := h2(t, 100, func(w http.ResponseWriter, r *http.Request) {
		if n, _ := io.Copy(io.Discard, r.Body); n != size {
			short.Add(1)
		}
		_, _ = w.Write(make([]byte, size))
	})
	p := plan(target(t, "http://"+to.Address+"/", Request{HTTP2: true, Data: strings.Repeat("x", size)}))
	p.Rate, p.Conns, p.Streams, p.For = 0, 2, 10, 2*time.Second
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Done < 40 || r.Failed > 0 || r.Unasked > 0 || !r.Lossless() || r.Open < 12 || short.Load() > 0 {
		t.Errorf("%d of %d answered, %.1f open, %d errors, lost %v, %d bodies too short", r.Done, r.Sent, r.Open, r.Failed, r.Lost, short.Load())
	}
}

// A stream that the server resets is an error of its request alone, and one that is not answered in time is given up
// alone: the server learns it.
func TestAStreamFailsAlone(t *testing.T) {
	var n, gaveUp atomic.Int64
	p := plan(h2(t, 100, func(_ http.ResponseWriter, r *http.Request) {
		switch n.Add(1) % 10 {
		case 0:
			panic(http.ErrAbortHandler)
		case 5:
			<-r.Context().Done()
			gaveUp.Add(1)
		}
	}))
	p.Rate, p.Conns, p.Streams, p.Timeout = 200, 1, 60, 150*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Sent < 190 || r.Failed < 15 || r.Failed > 25 || r.Lost[NoAnswer] < 15 || r.Lost[NoAnswer] > 25 || len(r.Lost) != 1 || r.Done+r.Lost[NoAnswer] != r.Sent {
		t.Errorf("%d sent, %d answered, %d errors, lost %v", r.Sent, r.Done, r.Failed, r.Lost)
	}
	if len(r.Locals.Ports) != 1 || gaveUp.Load() < 15 {
		t.Errorf("%d connections, the server learned of %d that were given up", len(r.Locals.Ports), gaveUp.Load())
	}
}

// What carries one request at a time cannot carry several, and the null server can.
func TestWhatCarriesSeveral(t *testing.T) {
	for _, tt := range []struct {
		url  string
		r    Request
		want string
	}{
		{"tcp://127.0.0.1:1", Request{Size: 64, Reply: 64}, "carries one request at a time"},
		{"http://127.0.0.1:1/", Request{}, "carries one request at a time"},
		{"http://127.0.0.1:1/", Request{HTTP2: true}, ""},
		{"https://127.0.0.1:1/", Request{HTTP2: true, Data: strings.Repeat("x", 300_000)}, ""},
		{"grpc://127.0.0.1:1/a.S/M", Request{}, ""},
	} {
		p := plan(null(t, tt.url, tt.r))
		p.Rate, p.For, p.Streams, p.Conns = 200, 300*time.Millisecond, 16, 2
		r, err := Run(context.Background(), p)
		switch {
		case tt.want != "":
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", tt.url, err)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.url, err)
		case r.Sent+r.Behind != 60 || r.Done != r.Sent || len(r.Lost) > 0 || r.Unasked > 0:
			t.Errorf("%s: %d sent, %d answered, %d unasked, lost %v", tt.url, r.Sent, r.Done, r.Unasked, r.Lost)
		}
	}
	p := plan(null(t, "http://127.0.0.1:1/", Request{HTTP2: true}))
	p.PingPong, p.Streams, p.Conns, p.Rate = true, 2, 1, 0
	if _, err := Run(context.Background(), p); err == nil || !strings.Contains(err.Error(), "one request open") {
		t.Errorf("ping-pong: %v", err)
	}
}
