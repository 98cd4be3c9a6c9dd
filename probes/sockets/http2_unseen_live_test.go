package sockets

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/recording"
)

// Where answers can't be seen, nothing is made up of the rest, and the rows say so.
//
// Not beside others: the coverage names the last listener of which some were not seen.
func TestHTTP2ThatIsNotSeenIsSaidToBe(t *testing.T) {
	b := newBench(t)
	l := b.listen("127.0.0.1:7340")
	head := frame(frameHeaders, endHeaders|endStream, 1, []byte{0x88})
	go serveFrames(l, func(conn net.Conn, kind, _ byte, id uint32) {
		if kind == frameHeaders {
			copy(head[5:], code(id))
			_ = sendByFile(conn.(*net.TCPConn), head)
		}
	})
	r := b.start()
	conn := b.dial("127.0.0.1:7340")
	go io.Copy(io.Discard, conn)
	_, _ = conn.Write(append([]byte(preface), frame(frameSettings, 0, 0, nil)...))
	const streams = 30
	for id := range uint32(streams) {
		_, _ = conn.Write(frame(frameHeaders, endHeaders|endStream, 2*id+1, []byte{0x83}))
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(time.Second)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	s, rows := turns(rec, b, "serve", "7340")
	if s.N != 0 || missedIn(rows) == 0 || rows[len(rows)-1].Open != 0 {
		t.Errorf("%d turns, %d missed, %d open: want 0, 1 and more, 0", s.N, missedIn(rows), rows[len(rows)-1].Open)
	}
	if c, _ := rec.Measured("sockets.turns"); c.State != recording.CoveragePartial || !strings.Contains(c.Why, "127.0.0.1:7340") {
		t.Errorf("coverage: %s %q", c.State, c.Why)
	}
	call, _ := turns(rec, b, "call", "7340")
	if call.N != streams {
		t.Errorf("the caller has %d answers, want %d", call.N, streams)
	}
}

// A server that hangs leaves requests open, though no answer tells what the connection is.
func TestOpenRequestsOfHTTP2ThatIsOlder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7342")
	answers := 1
	go serveFrames(l, func(c net.Conn, kind, flags byte, id uint32) {
		if answers--; kind == frameData && answers >= 0 {
			_, _ = c.Write(frame(frameHeaders, endHeaders|endStream, id, []byte{0x88}))
		}
	})
	conn := b.dial("127.0.0.1:7342")
	go io.Copy(io.Discard, conn)
	ask := func(id uint32) {
		_, _ = conn.Write(append(frame(frameHeaders, endHeaders, id, []byte{0x83}), frame(frameData, endStream, id, []byte("what"))...))
	}
	_, _ = conn.Write(append([]byte(preface), frame(frameSettings, 0, 0, nil)...))
	ask(1)
	time.Sleep(50 * time.Millisecond)
	r := b.start()
	ask(3)
	time.Sleep(1500 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for _, role := range []string{"serve", "call"} {
		s, rows := turns(rec, b, role, "7342")
		if s.N != 0 || s.Open != 1 || missedIn(rows) != 0 {
			t.Errorf("%s: %d answered, %d open, %d missed, want 0, 1, 0", role, s.N, s.Open, missedIn(rows))
		}
		between(t, role+": open for", s.Oldest, 1.3, 3)
	}
}

// Requests that are open when their connection ends are cut: one was answered.
func TestCutRequestsOfHTTP2(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		port, what       string
		end              func(c *net.TCPConn)
		served, called   uint64
		servedBy, callBy string
	}{
		{"7343", "the server hangs up", func(c *net.TCPConn) { c.Close() }, 0, 2, "", recording.CutHungUp},
		{"7344", "the server resets", func(c *net.TCPConn) { _ = c.SetLinger(0); c.Close() }, 2, 2, recording.CutReset, recording.CutReset},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			l := b.listen("127.0.0.1:" + c.port)
			go serveFrames(l, func(conn net.Conn, kind, _ byte, id uint32) {
				if kind == frameHeaders && id == 1 {
					_, _ = conn.Write(frame(frameHeaders, endHeaders|endStream, id, []byte{0x88}))
				}
				if kind == frameHeaders && id == 5 {
					time.Sleep(20 * time.Millisecond)
					c.end(conn.(*net.TCPConn))
				}
			})
			r := b.start()
			conn := b.dial("127.0.0.1:" + c.port)
			asked := append([]byte(preface), frame(frameSettings, 0, 0, nil)...)
			for id := range uint32(3) {
				asked = append(asked, frame(frameHeaders, endHeaders|endStream, 2*id+1, []byte{0x83})...)
			}
			_, _ = conn.Write(asked)
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
			time.Sleep(50 * time.Millisecond)
			r.Stop()
			rec := b.needs(r, "sockets.turns")
			for role, want := range map[string]struct {
				n  uint64
				by string
			}{"serve": {c.served, c.servedBy}, "call": {c.called, c.callBy}} {
				n, by := uint64(0), ""
				s, rows := turns(rec, b, role, c.port)
				for _, row := range rows {
					if n += row.Cut; row.Cut > 0 {
						by = row.CutBy
					}
				}
				if s.N != 1 || n != want.n || by != want.by {
					t.Errorf("%s: %d answered, %d cut by %q, want 1, %d by %q", role, s.N, n, by, want.n, want.by)
				}
			}
		})
	}
}

// More at a time than there is room for are said to be missed, and those after them counted.
func TestMoreRequestsOfHTTP2ThanThereIsRoomFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7345")
	const atOnce, after = 300, 20
	var open []byte
	go serveFrames(l, func(c net.Conn, kind, _ byte, id uint32) {
		if kind != frameHeaders {
			return
		}
		open = append(open, frame(frameHeaders, endHeaders|endStream, id, []byte{0x88})...)
		if id >= 2*atOnce-1 {
			_, _ = c.Write(open)
			open = nil
		}
	})
	r := b.start()
	conn := b.dial("127.0.0.1:7345")
	answered := make(chan struct{})
	go readFrames(conn, func(kind, _ byte, id uint32) {
		if kind == frameHeaders && id >= 2*atOnce-1 {
			answered <- struct{}{}
		}
	})
	_, _ = conn.Write(append([]byte(preface), frame(frameSettings, 0, 0, nil)...))
	for id := range uint32(atOnce + after) {
		_, _ = conn.Write(frame(frameHeaders, endHeaders|endStream, 2*id+1, []byte{0x83}))
		if id >= atOnce-1 {
			<-answered
		}
	}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for _, role := range []string{"serve", "call"} {
		s, rows := turns(rec, b, role, "7345")
		if missedIn(rows) == 0 {
			t.Errorf("%s: none was missed", role)
		}
		between(t, role+": counted", float64(s.N), 128+after, atOnce+after-1)
	}
}

// In slices of the time what is seen to end has taken as long as it did.
func TestRequestsOfHTTP2InSlices(t *testing.T) {
	t.Parallel()
	const takes, pause = 60 * time.Millisecond, time.Millisecond
	b := newBench(t)
	l := b.listen("127.0.0.1:7346")
	serveHTTP2(t, l, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(takes)
		}
	})
	quick, slow := b.http2Client("127.0.0.1:7346"), b.http2Client("127.0.0.1:7346")
	// So little is allowed that a slow machine measures in slices too.
	r := b.startWith(oftenShare / 8)
	began := time.Now()
	var stop atomic.Bool
	var asking sync.WaitGroup
	ask := func(n int, c *http.Client, path string) {
		for range n {
			asking.Go(func() {
				for !stop.Load() {
					new(askedHTTP2).get(c, "http://127.0.0.1:7346"+path, nil)
					time.Sleep(pause) // however fast the machine is
				}
			})
		}
	}
	ask(8, quick, "/")
	ask(6, slow, "/slow")
	inLaterSlices := func() (n uint64) {
		_, rows := turns(b.sink.Recording(), b, "serve", "7346")
		for _, row := range rows {
			if row.T.Sub(rows[0].T) > 2*time.Second {
				n += row.N
			}
		}
		return n
	}
	// The second slice begins after a rest of 8 s at most, and later where the machine is slow.
	for inLaterSlices() == 0 && time.Since(began) < 40*time.Second {
		time.Sleep(time.Second)
	}
	took := time.Since(began)
	stop.Store(true)
	asking.Wait()
	r.Stop()
	seen := b.sink.Recording()
	if c, _ := seen.Measured("sockets.turns"); !c.InSlices() {
		t.Fatalf("coverage of turns after %v: %+v (is this machine too slow to ask 1,000 times per second?)", took, c)
	}
	s, rows := turns(seen, b, "serve", "7346")
	later, missed := inLaterSlices(), 0
	for _, row := range rows {
		if row.Missed > 0 {
			missed++
		}
		if row.Max > 1.3 || row.Oldest > 1.3 {
			t.Errorf("a request of %.2f s, one open for %.2f s: longer than any slice", row.Max, row.Oldest)
		}
	}
	slows := uint64(0)
	for i, n := range s.Hist {
		if recording.TurnBound(i+1) > takes.Seconds() {
			slows += n
		}
	}
	t.Logf("in %v %d, %d of them slow, %d after the first seconds, missed in %d of %d rows", took, s.N, slows, later, missed, len(rows))
	if most := uint64(6 * took.Seconds() / takes.Seconds()); later == 0 || slows < 20 || slows > most || 2*missed >= len(rows) {
		t.Errorf("%d requests, %d slow of at most %d, %d after the first seconds, missed in %d of %d rows", s.N, slows, most, later, missed, len(rows))
	}
}
