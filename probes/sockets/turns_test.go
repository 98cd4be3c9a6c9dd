package sockets

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// serve answers each request of size bytes on every connection of l by f.
func serveEach(l net.Listener, size int, f func(c net.Conn, request []byte)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			buf := make([]byte, size)
			for {
				if _, err := io.ReadFull(c, buf); err != nil {
					return
				}
				f(c, buf)
			}
		}()
	}
}

// turns adds up the rows of one role in the bench's namespace. Beside many other tests of this
// process the least busy rows of a second are added up as one, without their peers.
func turns(rec *recording.Recording, b *bench, role, port string) (sum recording.Turns, rows []recording.Turns) {
	for _, r := range rec.Turns {
		at := r.Local
		if role == "call" {
			at = r.Remote
		}
		if r.Netns != b.id || r.Role != role || recording.Port(at) != port && at != others {
			continue
		}
		rows = append(rows, r)
		sum.N += r.N
		sum.Sum += r.Sum
		sum.Max = max(sum.Max, r.Max)
		sum.Wait += r.Wait
		sum.Open = max(sum.Open, r.Open)
		sum.Oldest = max(sum.Oldest, r.Oldest)
		sum.PID, sum.Comm = r.PID, r.Comm
		sum.Hist = addHist(sum.Hist, r.Hist)
	}
	return sum, rows
}

func between(t *testing.T, what string, got, least, most float64) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s: %g, want %g to %g", what, got, least, most)
	}
}

func TestTurnsHaveTheServersTimeAndNotTheClients(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7021")
	const work, think, rounds = 20 * time.Millisecond, 30 * time.Millisecond, 30
	go serveEach(l, 100, func(c net.Conn, request []byte) {
		time.Sleep(work)
		c.Write(request[:50]) // an answer in two pieces
		c.Write(request[50:])
	})
	old := b.dial("127.0.0.1:7021") // older than the probe
	r := b.start()
	young := b.dial("127.0.0.1:7021")
	began := time.Now()
	for range rounds {
		for _, c := range []net.Conn{old, young} {
			buf := make([]byte, 100)
			c.Write(buf)
			io.ReadFull(c, buf)
		}
		time.Sleep(think)
	}
	took := time.Since(began)
	time.Sleep(300 * time.Millisecond) // the silence that ends the last answer
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for _, role := range []string{"serve", "call"} {
		sum, rows := turns(rec, b, role, "7021")
		t.Logf("%s in %v: %+v", role, took, sum)
		if sum.N != 2*rounds {
			t.Errorf("%s: %d turns, want %d", role, sum.N, 2*rounds)
		}
		// Together they are all the time that was not spent thinking.
		between(t, role+": mean", sum.Sum/float64(sum.N), work.Seconds(), (took.Seconds()-rounds*think.Seconds())/(2*rounds)+0.002)
		inHist := uint64(0)
		for i, n := range sum.Hist {
			inHist += n
			if n > 0 && recording.TurnBound(i+1) < work.Seconds() {
				t.Errorf("%s: %d turns below %g s", role, n, recording.TurnBound(i+1))
			}
		}
		if inHist != sum.N {
			t.Errorf("%s: %d turns in the histogram of %d", role, inHist, sum.N)
		}
		if sum.PID != os.Getpid() || len(rows) < 2 || rows[0].Local == "" || rows[0].Remote == "" {
			t.Errorf("%s: %+v", role, rows)
		}
		if sum.Oldest > 2*work.Seconds()+0.5 {
			t.Errorf("%s: a turn was open for %g s", role, sum.Oldest)
		}
	}
	if s, _ := turns(rec, b, "serve", "7021"); s.Wait > 0.3*s.Sum {
		t.Errorf("the server read at once, but the wait is %g of %g s", s.Wait, s.Sum)
	}
}

func TestTurnsTellWaitingFromWork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7022")
	const late = 1500 * time.Millisecond
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		time.Sleep(late) // does not read
		buf := make([]byte, 300)
		io.ReadFull(c, buf)
		c.Write(buf)
		io.ReadFull(c, buf)
	}()
	r := b.start()
	c := b.dial("127.0.0.1:7022")
	for range 3 { // pipelined: one turn, from the first
		c.Write(make([]byte, 100))
		time.Sleep(50 * time.Millisecond)
	}
	io.ReadFull(c, make([]byte, 300))
	time.Sleep(1300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	serve, _ := turns(rec, b, "serve", "7022")
	call, _ := turns(rec, b, "call", "7022")
	t.Logf("serve %+v\ncall %+v", serve, call)
	for role, s := range map[string]recording.Turns{"serve": serve, "call": call} {
		if s.N != 1 || s.Open != 1 {
			t.Errorf("%s: %d turns ended, %d were open, want 1 and 1", role, s.N, s.Open)
		}
		between(t, role, s.Sum, late.Seconds()-0.05, late.Seconds()+0.5)
		between(t, role+": open for", s.Oldest, 0.2, late.Seconds())
	}
	between(t, "wait", serve.Wait, late.Seconds()-0.05, serve.Sum)
}

// A connection that is made when its first data comes (TCP_DEFER_ACCEPT, as Apache asks for)
// brings that data with it: it lay there until it was accepted.
func TestTurnsOfDeferredConnections(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7025")
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 30) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	const clients, late = 5, 400 * time.Millisecond
	r := b.start()
	var asking []net.Conn
	for range clients {
		c := b.dial("127.0.0.1:7025")
		c.Write(make([]byte, 100))
		asking = append(asking, c)
	}
	time.Sleep(late)
	go serveEach(l, 100, func(c net.Conn, request []byte) { c.Write(request) })
	for _, c := range asking {
		io.ReadFull(c, make([]byte, 100))
	}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	serve, _ := turns(rec, b, "serve", "7025")
	t.Logf("serve %+v", serve)
	if serve.N != clients {
		t.Errorf("%d turns ended, want %d", serve.N, clients)
	}
	between(t, "wait", serve.Wait, clients*(late.Seconds()-0.05), serve.Sum)
}

func TestStreamsAreNoTurns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	up, down := b.listen("127.0.0.1:7023"), b.listen("127.0.0.1:7024")
	n := 0
	go serveEach(up, 1000, func(c net.Conn, _ []byte) {
		if n++; n%70 == 0 {
			c.Write([]byte("ack")) // now and then, as RTMP does
		}
	})
	go serveEach(down, 10, func(c net.Conn, _ []byte) {
		for range 150 {
			c.Write(make([]byte, 1000))
			time.Sleep(10 * time.Millisecond)
		}
	})
	r := b.start()
	pub, play := b.dial("127.0.0.1:7023"), b.dial("127.0.0.1:7024")
	go io.Copy(io.Discard, pub)
	go io.Copy(io.Discard, play)
	play.Write(make([]byte, 10))
	for range 150 {
		pub.Write(make([]byte, 1000))
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	if s, _ := turns(rec, b, "call", "7023"); s.N != 0 {
		t.Errorf("publishing is a call with %d turns of %g s", s.N, s.Sum)
	}
	for role, port := range map[string]string{"serve": "7023", "call": "7024"} {
		if s, _ := turns(rec, b, role, port); s.Max > 0.25 {
			t.Errorf("%s on %s: a turn of %g s in a stream", role, port, s.Max)
		}
	}
	if s, _ := turns(rec, b, "serve", "7024"); s.N != 1 || s.Max > 0.25 {
		t.Errorf("a stream is answered by its first byte: %+v", s)
	}
}

func TestTurnsOfConnectionsThatClose(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7025")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 10)
			io.ReadFull(c, buf)
			c.Write(buf)
			c.Close()
		}
	}()
	r := b.start()
	const rounds = 25
	for i := range rounds {
		c := b.dial("127.0.0.1:7025")
		c.Write(make([]byte, 10))
		if i%2 == 0 {
			c.CloseWrite() // the answer comes after our FIN
		}
		io.Copy(io.Discard, c)
		c.Close()
	}
	time.Sleep(100 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for _, role := range []string{"serve", "call"} {
		s, rows := turns(rec, b, role, "7025")
		// A tick may come while one is open; at the end none is.
		if s.N != rounds || len(rows) == 0 || rows[len(rows)-1].Open != 0 || s.Sum > 5 {
			t.Errorf("%s: %+v, want %d turns: %+v", role, s, rounds, rows)
		}
	}
}

func TestSlowTurnsAreLookedAt(t *testing.T) {
	for _, c := range []struct {
		row  recording.Turns
		slow bool
	}{
		{recording.Turns{Role: "serve", PID: 7, N: 10, Sum: 1.2}, true},
		{recording.Turns{Role: "serve", PID: 7, N: 10, Sum: 0.2}, false},
		{recording.Turns{Role: "serve", PID: 7, N: 100, Sum: 0.2, Max: 0.06}, true},  // one of many
		{recording.Turns{Role: "serve", PID: 7, N: 1000, Sum: 0.6, Max: 0.01}, true}, // many at a time
		{recording.Turns{Role: "serve", PID: 7, Open: 1, Oldest: 1.5}, true},
		{recording.Turns{Role: "call", PID: 7, N: 10, Sum: 1.2}, false}, // its peer is slow
		{recording.Turns{Role: "serve", N: 10, Sum: 1.2}, false},        // nobody knows whose
	} {
		if got := slowTurns(c.row); (got != "") != c.slow {
			t.Errorf("%+v: %q", c.row, got)
		}
	}
}

// failedAt is how many answers at a port were errors, and what the last of them were called.
func failedAt(rec *recording.Recording, b *bench, port string) (n uint64, as string) {
	_, rows := turns(rec, b, "serve", port)
	for _, row := range rows {
		if n += row.Failed; row.Failed > 0 {
			as = row.FailedAs
		}
	}
	return n, as
}
