package sockets

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/recording"
)

// Ten at a time on one connection: each is a request of its own, at both ends.
func TestRequestsOfHTTP2AreCountedSeparately(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7301")
	const work, atOnce, rounds = 50 * time.Millisecond, 10, 25
	serveHTTP2(t, l, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(work)
		_, _ = w.Write(make([]byte, 100))
	})
	r := b.start()
	c := b.http2Client("127.0.0.1:7301")
	var asked askedHTTP2
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() {
			time.Sleep(time.Duration(i) * work / atOnce) // so that not all are answered at once
			for range rounds {
				asked.get(c, "http://127.0.0.1:7301/", strings.NewReader("what"))
			}
		})
	}
	all.Wait()
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	t.Logf("asked %d, failed %d, mean %g", asked.n, asked.failed, asked.mean())
	for _, role := range []string{"serve", "call"} {
		s, rows := turns(rec, b, role, "7301")
		t.Logf("%s %+v", role, s)
		if s.N != atOnce*rounds || missedIn(rows) != 0 {
			t.Errorf("%s: %d requests, of %d connections some were missed; want %d and 0", role, s.N, missedIn(rows), atOnce*rounds)
		}
		between(t, role+": mean", s.Sum/float64(s.N), max(work.Seconds(), 0.9*asked.mean()), asked.mean()+0.001)
		between(t, role+": open at a moment", float64(s.Open), atOnce/2, atOnce)
		if s.Oldest > 3*work.Seconds() {
			t.Errorf("%s: one was open for %g s", role, s.Oldest)
		}
		if rows[len(rows)-1].Open != 0 {
			t.Errorf("%s: %d are open in the end", role, rows[len(rows)-1].Open)
		}
	}
}

// A slow one does not hide among quick ones, nor they behind it; and a stream, which is
// answered at once and then goes on, is no late request.
func TestASlowRequestOfHTTP2AmongQuickOnes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7302")
	const slow, quick, rounds = 800 * time.Millisecond, 4 * time.Millisecond, 300
	over := make(chan struct{})
	serveHTTP2(t, l, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			time.Sleep(slow)
		case "/stream":
			time.Sleep(quick)
			_ = http.NewResponseController(w).Flush()
			for range 25 {
				_, _ = w.Write(make([]byte, 10))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(100 * time.Millisecond)
			}
		case "/never":
			<-over
		default:
			time.Sleep(quick)
		}
	})
	r := b.start()
	c := b.http2Client("127.0.0.1:7302")
	var quicks, slows askedHTTP2
	var all, never sync.WaitGroup
	quicks.get(c, "http://127.0.0.1:7302/", nil) // the connection is there
	never.Go(func() { new(askedHTTP2).get(c, "http://127.0.0.1:7302/never", nil) })
	all.Go(func() { new(askedHTTP2).get(c, "http://127.0.0.1:7302/stream", nil) })
	for range 2 {
		all.Go(func() { slows.get(c, "http://127.0.0.1:7302/slow", nil) })
	}
	for range rounds - 1 {
		quicks.get(c, "http://127.0.0.1:7302/", nil)
	}
	all.Wait()
	time.Sleep(1100 * time.Millisecond)
	r.Stop()
	close(over)
	never.Wait()
	rec := b.needs(r, "sockets.turns")
	for _, role := range []string{"serve", "call"} {
		s, rows := turns(rec, b, role, "7302")
		t.Logf("%s %+v", role, s)
		if want := uint64(quicks.n + slows.n + 1); s.N != want {
			t.Errorf("%s: %d requests, want %d", role, s.N, want)
		}
		between(t, role+": the slowest", s.Max, slow.Seconds(), slows.max.Seconds()+0.001)
		late := uint64(0)
		for i, n := range s.Hist {
			if recording.TurnBound(i+1) > slow.Seconds() {
				late += n
			}
		}
		if late != 2 {
			t.Errorf("%s: %d took 0.8 s, want 2: %v", role, late, s.Hist)
		}
		if last := rows[len(rows)-1]; last.Open != 1 || last.Oldest < 2 {
			t.Errorf("%s: in the end %d are open for %g s, want the one that gets no answer", role, last.Open, last.Oldest)
		}
	}
}

// gRPC's connections live for days: one is recognised amid its life, by frames that fit.
func TestHTTP2ThatIsOlderThanTheRecording(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7303")
	const work, rounds = 20 * time.Millisecond, 40
	serveHTTP2(t, l, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(work)
		_, _ = w.Write(make([]byte, 100))
	})
	c := b.http2Client("127.0.0.1:7303")
	for range 5 {
		new(askedHTTP2).get(c, "http://127.0.0.1:7303/", nil)
	}
	r := b.start()
	var asked askedHTTP2
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range rounds {
				asked.get(c, "http://127.0.0.1:7303/", strings.NewReader("what"))
			}
		})
	}
	all.Wait()
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for _, role := range []string{"serve", "call"} {
		s, rows := turns(rec, b, role, "7303")
		t.Logf("%s %+v, missed %d", role, s, missedIn(rows))
		// What was asked before three frames were seen may be missed, no more.
		between(t, role+": requests", float64(s.N), 4*rounds-4, 4*rounds)
		between(t, role+": mean", s.Sum/float64(s.N), work.Seconds(), asked.mean()+0.001)
	}
}

// What a server breaks off by an error code is a failed answer; what the client cancels, or
// the server ends without an error, is not.
func TestFailedAnswersOfHTTP2(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		what   string
		answer []byte // after HEADERS of stream 2n+1; the id is put in
		n      uint64 // of answers
		failed uint64
		as     string
	}{
		{"refused", frame(frameReset, 0, 1, code(7)), 3, 3, "HTTP/2 RST_STREAM REFUSED_STREAM"},
		{"an error within", frame(frameReset, 0, 1, code(2)), 3, 3, "HTTP/2 RST_STREAM INTERNAL_ERROR"},
		{"an error that no RFC names", frame(frameReset, 0, 1, code(99)), 3, 3, "HTTP/2 RST_STREAM error 99"},
		{"cancelled", frame(frameReset, 0, 1, code(8)), 3, 0, ""},
		{"ended without an error", frame(frameReset, 0, 1, code(0)), 3, 0, ""},
		{"told to be calm", frame(frameGoAway, 0, 0, append(code(0), code(11)...)), 0, 3, "HTTP/2 GOAWAY ENHANCE_YOUR_CALM"},
		{"told that it goes", frame(frameGoAway, 0, 0, append(code(0), code(0)...)), 0, 0, ""},
		{"answered", frame(frameHeaders, endHeaders|endStream, 1, []byte{0x88}), 3, 0, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			port := fmt.Sprint(7310 + i)
			l := b.listen("127.0.0.1:" + port)
			go serveFrames(l, func(conn net.Conn, kind, flags byte, id uint32) {
				if kind != frameHeaders {
					return
				}
				answer := bytes.Clone(c.answer)
				if answer[3] != frameGoAway {
					copy(answer[5:], code(id))
				}
				_, _ = conn.Write(answer)
			})
			r := b.start()
			conn := b.dial("127.0.0.1:" + port)
			_, _ = conn.Write(append([]byte(preface), frame(frameSettings, 0, 0, nil)...))
			for id := range uint32(3) {
				_, _ = conn.Write(frame(frameHeaders, endHeaders|endStream, 2*id+1, []byte{0x83}))
				time.Sleep(20 * time.Millisecond)
			}
			// One that the client cancels is none of the server's answers.
			_, _ = conn.Write(frame(frameReset, 0, 5, code(8)))
			go io.Copy(io.Discard, conn)
			time.Sleep(50 * time.Millisecond)
			r.Stop()
			rec := b.needs(r, "sockets.turns")
			s, rows := turns(rec, b, "serve", port)
			if failed, as := failures(rows); s.N != c.n || failed != c.failed || as != c.as {
				t.Errorf("%d answers, %d failed as %q, want %d, %d as %q", s.N, failed, as, c.n, c.failed, c.as)
			}
			if s.Sum > 0.1 {
				t.Errorf("they took %g s", s.Sum)
			}
		})
	}
}

// Frames are where their lengths say, however the calls cut them: heads in pieces, header
// blocks in several frames, several frames in one write, frames as large as can be.
func TestFramesOfHTTP2HoweverTheyAreCut(t *testing.T) {
	t.Parallel()
	const streams = 20
	request := func(id uint32) []byte { // HEADERS, CONTINUATION, DATA whose payload looks like frames
		return bytes.Join([][]byte{
			frame(frameHeaders, 0, id, make([]byte, 30)),
			frame(frameContinuation, 0, id, make([]byte, 3)),
			frame(frameContinuation, endHeaders, id, make([]byte, 40)),
			frame(frameWindow, 0, 0, code(100)),
			frame(frameData, 0, id, frame(frameHeaders, endHeaders|endStream, id+100, make([]byte, 20))),
			frame(frameData, 0, id, nil),
			frame(frameData, endStream, id, bytes.Repeat(frame(frameReset, 0, id, code(2)), 1000)),
		}, nil)
	}
	answer := func(id uint32) []byte {
		return bytes.Join([][]byte{
			frame(frameHeaders, endHeaders, id, make([]byte, 50)),
			frame(framePing, 0, 0, make([]byte, 8)),
			frame(frameData, 0, id, make([]byte, 16384)),
			frame(frameData, 0, id, bytes.Repeat(frame(frameReset, 0, id, code(2)), 100)),
			frame(frameHeaders, endHeaders|endStream, id, make([]byte, 12)),
		}, nil)
	}
	for i, c := range []struct {
		what  string
		write func(t *testing.T, c *net.TCPConn, b []byte)
	}{
		{"all in one write", func(_ *testing.T, c *net.TCPConn, b []byte) { _, _ = c.Write(b) }},
		{"in pieces", func(_ *testing.T, c *net.TCPConn, b []byte) {
			for n := 0; len(b) > 0; b = b[n:] {
				n = min(len(b), 1+rand.IntN(2000))
				_, _ = c.Write(b[:n])
			}
		}},
		{"a byte at a time", func(_ *testing.T, c *net.TCPConn, b []byte) {
			for len(b) > 0 {
				n := 1
				if len(b) > 200 && rand.IntN(20) == 0 {
					n = 200 + rand.IntN(len(b)-200)
				}
				_, _ = c.Write(b[:n])
				b = b[n:]
			}
		}},
		{"in a vector", func(_ *testing.T, c *net.TCPConn, b []byte) {
			var v net.Buffers
			for n := 0; len(b) > 0; b = b[n:] {
				n = min(len(b), 1+rand.IntN(20)*rand.IntN(60))
				v = append(v, b[:n])
			}
			_, _ = v.WriteTo(c)
		}},
		{"by sendmsg", ways["sendmsg"]},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			port := fmt.Sprint(7330 + i)
			l := b.listen("127.0.0.1:" + port)
			const work = 10 * time.Millisecond
			go serveFrames(l, func(conn net.Conn, kind, flags byte, id uint32) {
				if kind == frameData && flags&endStream != 0 {
					time.Sleep(work)
					c.write(t, conn.(*net.TCPConn), answer(id))
				}
			})
			r := b.start()
			conn := b.dial("127.0.0.1:" + port)
			_, _ = conn.Write(append([]byte(preface), frame(frameSettings, 0, 0, nil)...))
			answered := make(chan struct{})
			go readFrames(conn, func(kind, flags byte, id uint32) {
				if kind == frameHeaders && flags&endStream != 0 {
					answered <- struct{}{}
				}
			})
			for id := range uint32(streams) {
				c.write(t, conn, request(2*id+1))
				<-answered
			}
			r.Stop()
			rec := b.needs(r, "sockets.turns")
			for _, role := range []string{"serve", "call"} {
				s, rows := turns(rec, b, role, port)
				failed, as := failures(rows)
				if s.N != streams || failed != 0 || missedIn(rows) != 0 {
					t.Errorf("%s: %d requests, %d failed (%s), %d missed; want %d and none", role, s.N, failed, as, missedIn(rows), streams)
				}
				between(t, role+": mean", s.Sum/float64(s.N), work.Seconds(), 5*work.Seconds())
			}
		})
	}
}

// A connection that does not begin with HTTP/2 (a proxy says first whom it speaks for) is
// recognised by what its server says first.
func TestHTTP2BehindAProxysHeader(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7341")
	const header, streams = "PROXY TCP4 192.0.2.1 192.0.2.2 5 6\r\n", 20
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := io.ReadFull(c, make([]byte, len(header)+len(preface))); err != nil {
			return
		}
		_, _ = c.Write(frame(frameSettings, 0, 0, make([]byte, 12)))
		readFrames(c, func(kind, _ byte, id uint32) {
			if kind == frameHeaders {
				_, _ = c.Write(append(frame(frameHeaders, endHeaders, id, []byte{0x88}), frame(frameData, endStream, id, []byte("so"))...))
			}
		})
	}()
	r := b.start()
	conn := b.dial("127.0.0.1:7341")
	go io.Copy(io.Discard, conn)
	_, _ = conn.Write([]byte(header + preface))
	for id := range uint32(streams) {
		time.Sleep(5 * time.Millisecond)
		_, _ = conn.Write(frame(frameHeaders, endHeaders|endStream, 2*id+1, []byte{0x83}))
	}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	s, rows := turns(b.needs(r, "sockets.turns"), b, "serve", "7341")
	if s.N < streams-1 || s.N > streams || missedIn(rows) != 0 {
		t.Errorf("%d requests, %d missed, want %d", s.N, missedIn(rows), streams)
	}
}

// What is no HTTP/2 is measured as before, and nothing is kept for it.
func TestNoOtherProtocolIsTakenForHTTP2(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const rounds, size = 40, 64
	random := func(n int) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = byte(rand.Uint32())
		}
		return out
	}
	protocols := []struct {
		what string
		make func(i int) []byte // of size bytes
	}{
		{"random bytes", func(int) []byte { return random(size) }},
		{"zeros", func(int) []byte { return make([]byte, size) }},
		{"a length before each message", func(i int) []byte {
			return append([]byte{0, 0, 0, size - 4, 0, 1, 0, 9, 0, 0, 0, byte(i)}, random(size-12)...)
		}},
		{"a length in one frame of HTTP/2", func(i int) []byte {
			return append(frame(frameHeaders, 4, uint32(2*i+1), make([]byte, 30)), random(size-39)...)
		}},
		{"HTTP/1.1", func(int) []byte {
			return []byte(fmt.Sprintf("%-*s", size, "GET / HTTP/1.1\r\nHost: PRI * HTTP/2.0\r\n\r\n"))
		}},
		{"TLS", func(int) []byte { return append([]byte{23, 3, 3, 0, size - 5}, random(size-5)...) }},
	}
	type conns struct{ old, young net.Conn }
	var all []conns
	for i := range protocols {
		addr := fmt.Sprint("127.0.0.1:", 7350+i)
		l := b.listen(addr)
		go serveEach(l, size, func(c net.Conn, request []byte) {
			time.Sleep(time.Millisecond)
			_, _ = c.Write(request)
		})
		all = append(all, conns{old: b.dial(addr)})
	}
	r := b.start()
	for i := range all {
		all[i].young = b.dial(fmt.Sprint("127.0.0.1:", 7350+i))
	}
	for i, p := range protocols {
		for n := range rounds {
			for _, c := range []net.Conn{all[i].old, all[i].young} {
				_, _ = c.Write(p.make(n))
				_, _ = io.ReadFull(c, make([]byte, size))
			}
		}
	}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for i, p := range protocols {
		for _, role := range []string{"serve", "call"} {
			s, rows := turns(rec, b, role, fmt.Sprint(7350+i))
			// One of the first turns of a connection that is older than the recording may be lost to a doubt.
			if s.N < 2*rounds-2 || s.N > 2*rounds || missedIn(rows) != 0 {
				t.Errorf("%s, %s: %d turns, %d missed, want %d", p.what, role, s.N, missedIn(rows), 2*rounds)
			}
		}
	}
}
