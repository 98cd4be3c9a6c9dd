package anyserver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netns"

	"snag/lab/drawn"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// Every language answers, obeys its control pipe, and is as it was once a fault is switched off.
func TestEveryLanguage(t *testing.T) {
	s := labtest.Stage(t)
	b, err := drawn.NewBench(s, drawn.Family{Name: "test"}, drawn.NewDraw(2, "test"), "", false)
	if err != nil {
		t.Fatal(err)
	}
	ns := b.Netns("server")
	backend := Start(b, ns, "backend", filepath.Join(b.Dir(), "backend.sock"), Options{Language: C, Workers: 8, Size: 128})
	for i, language := range Languages {
		addr := fmt.Sprintf("127.0.0.1:%d", 7000+i)
		o := Options{Language: language, Workers: 1, Size: 3000, Call: filepath.Join(b.Dir(), "backend.sock"), Journal: filepath.Join(b.Dir(), "journal"), Live: 1000, Echo: 40}
		server := Start(b, ns, "server"+string(language), addr, o)
		if b.Err() != nil {
			t.Fatal(b.Err())
		}
		c := dialIn(t, ns, addr)
		ask(t, c, o.Size) // the first is slower: a connection to the backend, code that is loaded
		type tell struct {
			to      *Server
			on, off string
		}
		tells := []tell{{server, "wait 300000", "wait 0"}, {server, "work 300000", "work 0"}, {backend, "wait 300000", "wait 0"}}
		if slices.Contains(Can("heavy"), language) {
			tells = append(tells, tell{server, "heavy 300000 1", "heavy 0"}, tell{server, "block 900000 1000", "block 0"})
		}
		for _, told := range tells {
			told.to.Tell("%s", told.on)
			time.Sleep(300 * time.Millisecond)
			slow := ask(t, c, o.Size)
			told.to.Tell("%s", told.off)
			time.Sleep(300 * time.Millisecond)
			quick := slices.Min([]time.Duration{ask(t, c, o.Size), ask(t, c, o.Size), ask(t, c, o.Size)})
			if slow < 290*time.Millisecond || quick > 250*time.Millisecond {
				t.Errorf("%s, told %q: an answer took %v, and %v when that was taken back", language, told.on, slow, quick)
			}
		}
		const taken = 64 << 20
		before := resident(t, server.PID)
		server.Tell("grow %d", taken)
		time.Sleep(300 * time.Millisecond)
		ask(t, c, o.Size)
		server.Tell("grow 0")
		if grown := resident(t, server.PID) - before; grown < taken*3/4 {
			t.Errorf("%s, told to grow by %d MiB with a request, has %d MiB more", language, taken>>20, grown>>20)
		}
		if line := "\n" + strings.Repeat("x", o.Echo-1) + "\n"; !strings.Contains(server.Printed(), line) {
			t.Errorf("%s: no request wrote a line of %d bytes to the standard output", language, o.Echo)
		}
		if st, err := os.Stat(o.Journal); err != nil || st.Size() < 8*4096 {
			t.Errorf("%s: the journal has not a page for each request: %v", language, err)
		}
		if err := os.Remove(o.Journal); err != nil {
			t.Error(err)
		}
	}
}

// A server that can't write its journal answers nothing.
func TestNoAnswerWithoutJournal(t *testing.T) {
	s := labtest.Stage(t)
	b, err := drawn.NewBench(s, drawn.Family{Name: "test"}, drawn.NewDraw(2, "test"), "", false)
	if err != nil {
		t.Fatal(err)
	}
	ns := b.Netns("server")
	for i, language := range Languages {
		addr := fmt.Sprintf("127.0.0.1:%d", 7100+i)
		Start(b, ns, "server"+string(language), addr, Options{Language: language, Workers: 4, Size: 128, Journal: "/dev/full"})
		if b.Err() != nil {
			t.Fatal(b.Err())
		}
		c := dialIn(t, ns, addr)
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(make([]byte, 128)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 128)); !errors.Is(err, io.EOF) {
			t.Errorf("%s: read %d bytes of an answer, %v", language, n, err)
		}
	}
}

// resident is how much memory a process has, bytes.
func resident(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// In every language a small pool makes requests wait for each other, and so does a job that
// keeps most of a large one; a client beyond the limit is refused; and who needs the other
// service does not answer without it.
func TestPoolLimitAndNeed(t *testing.T) {
	s := labtest.Stage(t)
	b, err := drawn.NewBench(s, drawn.Family{Name: "test"}, drawn.NewDraw(2, "test"), "", false)
	if err != nil {
		t.Fatal(err)
	}
	ns := b.Netns("server")
	const refusal = "-ERR max number of clients reached\r\n"
	for i, language := range Languages {
		at := fmt.Sprintf("127.0.0.1:%d", 6000+i)
		backend := Start(b, ns, "backend"+string(language), at, Options{Language: C, Workers: 8, Size: 128, Wait: 200 * time.Millisecond})
		addr := fmt.Sprintf("127.0.0.1:%d", 7000+i)
		o := Options{Language: language, Workers: 8, Size: 100, Call: at, Needs: true, Pool: 4, Limit: 100, Refusal: refusal}
		server := Start(b, ns, "server"+string(language), addr, o)
		if b.Err() != nil {
			t.Fatal(b.Err())
		}
		conns := []net.Conn{dialIn(t, ns, addr), dialIn(t, ns, addr)}
		both := func() time.Duration { // until both of two requests at once are answered
			first := make(chan time.Duration)
			go func() { first <- ask(t, conns[0], o.Size) }()
			return max(ask(t, conns[1], o.Size), <-first)
		}
		both() // opens the connections to the backend
		for _, told := range [][2]string{{"pool 1", "pool 4"}, {"keep 3", "keep 0"}} {
			server.Tell("%s", told[0])
			time.Sleep(100 * time.Millisecond)
			slow := both()
			server.Tell("%s", told[1])
			time.Sleep(100 * time.Millisecond)
			quick := min(both(), both())
			if slow < 390*time.Millisecond || quick > 370*time.Millisecond {
				t.Errorf("%s, told %q: two answers took %v, and %v when that was taken back", language, told[0], slow, quick)
			}
		}
		server.Tell("limit 2")
		time.Sleep(100 * time.Millisecond)
		third := dialIn(t, ns, addr)
		_ = third.SetDeadline(time.Now().Add(5 * time.Second))
		if said, _ := io.ReadAll(third); string(said) != refusal {
			t.Errorf("%s, one connection more than there may be: %q", language, said)
		}
		ask(t, conns[0], o.Size) // those that it has are served
		b.Stop(backend.Process)
		_ = conns[0].SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := conns[0].Write(make([]byte, o.Size)); err != nil {
			t.Fatal(err)
		}
		if n, err := conns[0].Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s, without the service that it needs: %d bytes, %v", language, n, err)
		}
	}
}

// What a language can't be told fails the run, and does not pass unnoticed.
func TestCan(t *testing.T) {
	if got := Can("lock"); slices.Contains(got, Node) || !slices.Contains(got, Java) {
		t.Errorf("a lock can be told to %v", got)
	}
	if got := Can("hang"); len(got) != len(Languages) {
		t.Errorf("to hang can be told to %v", got)
	}
}

func ask(t *testing.T, c net.Conn, size int) time.Duration {
	t.Helper()
	buf := make([]byte, size)
	start := time.Now()
	if err := c.SetDeadline(start.Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(buf); err != nil {
		t.Fatal(err)
	}
	for have := 0; have < size; {
		n, err := c.Read(buf[have:])
		if err != nil {
			t.Fatal(err)
		}
		have += n
	}
	return time.Since(start)
}

// dialIn connects within a namespace.
func dialIn(t *testing.T, ns, addr string) net.Conn {
	t.Helper()
	type dialled struct {
		c   net.Conn
		err error
	}
	done := make(chan dialled)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends in the other namespace
		h, err := netns.GetFromName(ns)
		if err == nil {
			err = netns.Set(h)
			h.Close()
		}
		var c net.Conn
		if err == nil {
			c, err = net.DialTimeout("tcp4", addr, 10*time.Second)
		}
		done <- dialled{c, err}
	}()
	d := <-done
	if d.err != nil {
		t.Fatalf("connect to %s in namespace %s: %v", addr, ns, d.err)
	}
	t.Cleanup(func() { d.c.Close() })
	return d.c
}
