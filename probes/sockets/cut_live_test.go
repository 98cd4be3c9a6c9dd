package sockets

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// Who ended a connection, and whether anybody waited on it then.
func TestCutRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start()
	linger := func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }
	read := func(c net.Conn) { _, _ = c.Read(make([]byte, 10)) }
	say := func(c net.Conn) { _, _ = c.Write(make([]byte, 10)) }
	sayMuch := func(c net.Conn) { _, _ = c.Write(make([]byte, 100_000)) } // the end comes before the call is back
	unread := func(c net.Conn) { awaitUnread(t, c) }
	asks := func(c net.Conn) { _, _ = c.Write([]byte("GET /again HTTP/1.1\r\nHost: a\r\n\r\n")) }
	quits := func(c net.Conn) { _, _ = c.Write([]byte("QUIT\r\n")) }
	ends := func(c net.Conn) { _, _ = c.Write([]byte{'X', 0, 0, 0, 4}) } // Terminate of PostgreSQL
	const rounds = 3
	cases := []struct {
		port, what       string
		serve, ask       func(c net.Conn)
		served, called   uint64
		servedBy, callBy string
	}{
		{"7301", "the server resets a request", func(c net.Conn) { read(c); linger(c) }, func(c net.Conn) { say(c); read(c) }, rounds, rounds, recording.CutReset, recording.CutReset},
		{"7308", "the server resets a request that is being written", func(c net.Conn) { read(c); linger(c) }, func(c net.Conn) { sayMuch(c); read(c) }, rounds, rounds, recording.CutReset, recording.CutReset},
		{"7302", "the server leaves a request unread", unread, func(c net.Conn) { say(c); read(c) }, rounds, rounds, recording.CutReset, recording.CutReset},
		{"7303", "the server hangs up on a request", read, func(c net.Conn) { say(c); read(c) }, 0, rounds, "", recording.CutHungUp},
		{"7304", "the server resets after its answer", func(c net.Conn) { read(c); say(c); time.Sleep(10 * time.Millisecond); linger(c) }, func(c net.Conn) { say(c); read(c); read(c) }, 0, 0, "", ""},
		{"7305", "the client leaves by a reset", func(c net.Conn) { read(c); read(c) }, func(c net.Conn) { say(c); linger(c) }, 0, 0, "", ""},
		{"7306", "the client says farewell to a server that has closed", func(c net.Conn) { read(c); say(c) }, func(c net.Conn) { say(c); read(c); read(c); say(c); time.Sleep(10 * time.Millisecond) }, 0, 0, "", ""},
		{"7309", "the client asks a server that has closed", func(c net.Conn) { read(c); say(c) }, func(c net.Conn) { say(c); read(c); read(c); asks(c); time.Sleep(10 * time.Millisecond) }, 0, rounds, "", recording.CutHungUp},
		{"7310", "the client says QUIT to a server that has closed", func(c net.Conn) { read(c); say(c) }, func(c net.Conn) { say(c); read(c); read(c); quits(c); time.Sleep(10 * time.Millisecond) }, 0, 0, "", ""},
		{"7311", "the server hangs up on what ends a session", func(c net.Conn) { read(c); say(c); read(c) }, func(c net.Conn) { say(c); read(c); ends(c); read(c) }, 0, 0, "", ""},
		{"7312", "the server hangs up on a short request at first", read, func(c net.Conn) { ends(c); read(c) }, 0, rounds, "", recording.CutHungUp},
		{"7313", "the server hangs up on a request after another", func(c net.Conn) { read(c); say(c); read(c) }, func(c net.Conn) { say(c); read(c); say(c); read(c) }, 0, rounds, "", recording.CutHungUp},
		{"7307", "both end in order", func(c net.Conn) { read(c); say(c); read(c) }, func(c net.Conn) { say(c); read(c) }, 0, 0, "", ""},
	}
	for _, a := range cases {
		l := b.listen("127.0.0.1:" + a.port)
		go func() {
			for range rounds {
				c, err := l.Accept()
				if err != nil {
					return
				}
				a.serve(c)
				c.Close()
			}
		}()
		for range rounds {
			c := b.dial("127.0.0.1:" + a.port)
			a.ask(c)
			c.Close()
			time.Sleep(5 * time.Millisecond)
		}
	}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for _, a := range cases {
		for role, want := range map[string]struct {
			n  uint64
			by string
		}{"serve": {a.served, a.servedBy}, "call": {a.called, a.callBy}} {
			n, by := uint64(0), ""
			_, rows := turns(rec, b, role, a.port)
			for _, row := range rows {
				if n += row.Cut; row.Cut > 0 {
					by = row.CutBy
				}
			}
			if n != want.n || by != want.by {
				t.Errorf("%s, %s: %d cut by %q, want %d by %q", a.what, role, n, by, want.n, want.by)
			}
		}
	}
}

// awaitUnread waits until bytes wait unread at a socket: where a hypervisor takes the
// CPU, a sleep may end before the peer has written.
func awaitUnread(t *testing.T, c net.Conn) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err == nil {
		err = raw.Read(func(fd uintptr) bool {
			n, err := unix.IoctlGetInt(int(fd), unix.SIOCINQ)
			return err != nil || n > 0
		})
	}
	if err != nil {
		t.Error(err)
	}
}
