package load

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// framed serves connections of HTTP/2 by their frames, with the client's preface read and no settings of its own.
func framed(t *testing.T, serve func(*http2.Framer)) Target {
	t.Helper()
	address := serving(t, func(c net.Conn) {
		_, _ = io.ReadFull(c, make([]byte, len(http2.ClientPreface)))
		f := http2.NewFramer(c, c)
		_ = f.WriteSettings()
		serve(f)
	})
	return target(t, "http://"+address+"/", Request{HTTP2: true})
}

// answered200 ends a stream with status 200 and no body.
func answered200(f *http2.Framer, stream uint32) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte{0x88}, EndStream: true, EndHeaders: true})
}

// eachRequest calls f with the stream of each request until the client closes the connection.
func eachRequest(f *http2.Framer, request func(stream uint32)) {
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		if h, ok := frame.(*http2.HeadersFrame); ok {
			request(h.StreamID)
		}
	}
}

// goingAway answers requests of HTTP/2, up to the fifth of each connection: it ends the connection and names the
// third as the last that it processed. That one it still answers.
func goingAway(t *testing.T) (to Target, connections, answered *atomic.Int64) {
	t.Helper()
	connections, answered = &atomic.Int64{}, &atomic.Int64{}
	to = framed(t, func(f *http2.Framer) {
		connections.Add(1)
		answer := func(stream uint32) {
			answered.Add(1)
			answered200(f, stream)
		}
		begun := 0
		eachRequest(f, func(stream uint32) {
			switch begun++; {
			case begun <= 2:
				answer(stream)
			case begun == 5:
				_ = f.WriteGoAway(5, http2.ErrCodeNo, nil)
				time.Sleep(10 * time.Millisecond)
				answer(5)
			}
		})
	})
	return to, connections, answered
}

// When the server ends a connection, what it took is still answered, and what it did not begin with is sent on the
// next connection. Nothing is lost, and the time of a request goes on since it was sent first.
func TestRequestsAreSentAgainAfterGoAway(t *testing.T) {
	to, connections, answered := goingAway(t)
	p, noDelay := plan(to), true
	p.Rate, p.Conns, p.Streams, p.Options.NoDelay = 100, 1, 20, &noDelay
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	// Each connection answers three. The last one may hold up to two that it says nothing of.
	if r.Done < 90 || r.Sent+r.Behind != 100 || r.LostAll() != r.Sent-r.Done || r.LostAll() > 5 || r.Failed > 0 || r.Done > answered.Load() {
		t.Errorf("%d sent, %d answered (the server says %d), %d not sent, %d errors, lost %v", r.Sent, r.Done, answered.Load(), r.Behind, r.Failed, r.Lost)
	}
	n := connections.Load()
	if n < 25 || r.Closed < n-2 || r.Closed > n || r.Streams.Again < 2*(n-2) {
		t.Errorf("%d connections, %d closed, %d sent again", n, r.Closed, r.Streams.Again)
	}
	if p99 := time.Duration(r.FromSent.ValueAtQuantile(99)); p99 < 10*time.Millisecond {
		t.Errorf("99 in 100 within %v, and those that were sent again waited for 10 ms", p99)
	}
}

// A server that ends each connection and answers nothing is not asked again and again at once. Its requests are lost
// when their time is over.
func TestAServerThatAlwaysGoesAway(t *testing.T) {
	var connections atomic.Int64
	p := plan(framed(t, func(f *http2.Framer) {
		connections.Add(1)
		_ = f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, nil)
		eachRequest(f, func(uint32) {})
	}))
	p.Rate, p.Conns, p.Streams, p.Timeout = 50, 1, 100, 300*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if n := connections.Load(); n < 2 || n > 12 || r.Done != 0 || r.Lost[NoAnswer] != r.Sent || r.LostAll() != r.Sent || r.Sent == 0 || r.Closed != 0 {
		t.Errorf("%d connections, %d sent, %d answered, %d closed, lost %v", n, r.Sent, r.Done, r.Closed, r.Lost)
	}
}

// With one request at a time, the one that is open is answered as well.
func TestTheOpenRequestIsAnsweredAfterGoAway(t *testing.T) {
	p := plan(framed(t, func(f *http2.Framer) {
		eachRequest(f, func(stream uint32) {
			_ = f.WriteGoAway(stream, http2.ErrCodeNo, nil)
			time.Sleep(2 * time.Millisecond)
			answered200(f, stream)
		})
	}))
	p.Rate, p.Conns = 50, 2
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Done != r.Sent || r.Sent < 45 || r.Closed < r.Done-2 || !r.Lossless() {
		t.Errorf("%d sent, %d answered, %d closed, lost %v", r.Sent, r.Done, r.Closed, r.Lost)
	}
}
