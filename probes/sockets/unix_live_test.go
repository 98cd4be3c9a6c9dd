package sockets

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// listenUnix listens inside the namespace. Its connections are of it, whoever accepts them.
func (b *bench) listenUnix(addr string) *net.UnixListener {
	b.t.Helper()
	var l *net.UnixListener
	b.do(func() (err error) {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: addr, Net: "unix"})
		return err
	})
	b.t.Cleanup(func() { l.Close() })
	return l
}

func (b *bench) dialUnix(from, to string) *net.UnixConn {
	b.t.Helper()
	var c *net.UnixConn
	b.do(func() (err error) {
		var local *net.UnixAddr
		if from != "" {
			local = &net.UnixAddr{Name: from, Net: "unix"}
		}
		c, err = net.DialUnix("unix", local, &net.UnixAddr{Name: to, Net: "unix"})
		return err
	})
	b.t.Cleanup(func() { c.Close() })
	return c
}

// unixTurnsOf adds up the rows of one role at a UNIX listener.
func unixTurnsOf(rec *recording.Recording, b *bench, role, addr string) recording.Turns {
	sum, _ := turns(rec, b, role, addr)
	for _, r := range rec.Turns {
		if at := r.Local + r.Remote; r.Netns == b.id && r.Role == role && strings.Contains(at, addr) {
			sum.Cut += r.Cut
			sum.Failed += r.Failed
		}
	}
	return sum
}

func askUnix(t *testing.T, c net.Conn) {
	t.Helper()
	buf := make([]byte, 100)
	if _, err := c.Write(buf); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(c, buf); err != nil {
		t.Error(err)
	}
}

func TestUnixTurnsHaveTheServersTimeAndNotTheClients(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dir := t.TempDir()
	const work, think, rounds = 20 * time.Millisecond, 30 * time.Millisecond, 20
	answer := func(c net.Conn, request []byte) {
		time.Sleep(work)
		c.Write(request[:50]) // an answer in two pieces
		c.Write(request[50:])
	}
	// By a path, by an abstract name, and by callers that are bound themselves.
	path, abstract, bound := filepath.Join(dir, "php.sock"), "@"+filepath.Base(dir)+b.name, filepath.Join(dir, "bound.sock")
	for _, addr := range []string{path, abstract, bound} {
		go serveEach(b.listenUnix(addr), 100, answer)
	}
	old := b.dialUnix("", path) // older than the probe
	r := b.start()
	conns := []net.Conn{old, b.dialUnix("", path), b.dialUnix("", abstract), b.dialUnix(filepath.Join(dir, "caller"), bound)}
	for range rounds {
		for _, c := range conns {
			askUnix(t, c)
		}
		time.Sleep(think)
	}
	time.Sleep(300 * time.Millisecond) // the silence that ends the last answer
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for addr, n := range map[string]uint64{path: 2 * rounds, abstract: rounds, bound: rounds} {
		for _, role := range []string{"serve", "call"} {
			sum := unixTurnsOf(rec, b, role, addr)
			t.Logf("%s %s: %+v", addr, role, sum)
			if sum.N != n {
				t.Errorf("%s: %s: %d turns, want %d", addr, role, sum.N, n)
				continue
			}
			between(t, role+": mean", sum.Sum/float64(sum.N), work.Seconds(), work.Seconds()+0.01)
			between(t, role+": wait", sum.Wait/float64(sum.N), 0, 0.01)
			if sum.PID != os.Getpid() || sum.Oldest > 0.1 {
				t.Errorf("%s: %s: %+v", addr, role, sum)
			}
		}
	}
}

// A pool that answers each connection once and closes it: nothing but its end tells that the
// answer is over.
func TestUnixTurnsOfConnectionsThatClose(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "fresh.sock")
	l := b.listenUnix(path)
	const rounds, late = 10, 100 * time.Millisecond
	go func() {
		for i := 0; ; i++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			time.Sleep(late) // it waits unread
			io.ReadFull(c, make([]byte, 100))
			if i%2 == 0 {
				c.Write([]byte("HTTP/1.1 502 Bad Gateway\r\n"))
			} // else nobody is answered
			c.Close()
		}
	}()
	r := b.start()
	for range rounds {
		c := b.dialUnix("", path)
		c.Write(make([]byte, 100))
		io.Copy(io.Discard, c)
		c.Close()
	}
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	serve, call := unixTurnsOf(rec, b, "serve", path), unixTurnsOf(rec, b, "call", path)
	t.Logf("serve %+v\ncall %+v", serve, call)
	if serve.N != rounds/2 || serve.Failed != rounds/2 || call.N != rounds/2 || call.Cut != rounds/2 {
		t.Errorf("%d served, %d of them failed, %d asked and %d cut, want %d of each", serve.N, serve.Failed, call.N, call.Cut, rounds/2)
	}
	between(t, "wait", serve.Wait/float64(max(1, serve.N)), late.Seconds()-0.01, late.Seconds()+0.05)
	between(t, "asked", call.Sum/float64(max(1, call.N)), late.Seconds()-0.01, late.Seconds()+0.05)
}

func TestWhatIsNoRequestOnUnixSockets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dir := t.TempDir()
	push, log := filepath.Join(dir, "push.sock"), filepath.Join(dir, "log.sock")
	pushes, logs := b.listenUnix(push), b.listenUnix(log)
	go func() {
		c, err := pushes.Accept()
		for err == nil {
			_, err = c.Write(make([]byte, 100))
			time.Sleep(100 * time.Millisecond)
		}
	}()
	go serveEach(logs, 10, func(net.Conn, []byte) {})
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := b.start()
	go io.Copy(io.Discard, b.dialUnix("", push))
	c := b.dialUnix("", log)
	c.Write(make([]byte, 10))
	for range 5 {
		unix.Write(pair[0], []byte("ask"))
		unix.Read(pair[1], make([]byte, 10))
		unix.Write(pair[1], []byte("answer"))
		unix.Read(pair[0], make([]byte, 10))
	}
	time.Sleep(1500 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for _, row := range rec.Turns {
		if row.Netns == b.id || row.Local+row.Remote == "unix:" { // a pair has no address; others are of other tests
			t.Errorf("%+v", row)
		}
	}
}

// The first answer of a listener, which nobody knows to answer yet, after seconds.
func TestUnixTurnThatIsLong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "slow.sock")
	const work = 2500 * time.Millisecond
	go serveEach(b.listenUnix(path), 100, func(c net.Conn, request []byte) {
		time.Sleep(work)
		c.Write(request)
	})
	r := b.start()
	c := b.dialUnix("", path)
	askUnix(t, c)
	c.Write(make([]byte, 100))
	time.Sleep(1500 * time.Millisecond) // is open
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for _, role := range []string{"serve", "call"} {
		sum := unixTurnsOf(rec, b, role, path)
		if sum.N != 1 || sum.Open != 1 {
			t.Errorf("%s: %+v", role, sum)
		}
		between(t, role, sum.Sum, work.Seconds(), work.Seconds()+0.1)
		between(t, role+": open for", sum.Oldest, 0.3, work.Seconds())
	}
}

func TestPlacesOfEventsAreNoServices(t *testing.T) {
	for at, want := range map[string]bool{
		"unix:/run/php/php8.2-fpm.sock": true, "unix:@app": true, "unix:/var/run/docker.sock": true, "unix:/run/mysqld/mysqld.sock": true,
		"unix:/run/dbus/system_bus_socket": false, "unix:/run/systemd/journal/stdout": false, "unix:/run/user/1000/bus": false,
		"unix:@/tmp/.X11-unix/X0": false, "": false,
	} {
		if got := requestsAt(recording.Turns{Role: "serve", Local: at, Remote: recording.UnixPrefix}); got != want {
			t.Errorf("%q: %v", at, got)
		}
		if got := requestsAt(recording.Turns{Role: "call", Local: recording.UnixPrefix, Remote: at}); got != want {
			t.Errorf("%q, called: %v", at, got)
		}
	}
}
