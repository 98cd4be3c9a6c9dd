package anyserver

import (
	"fmt"
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
		o := Options{Language: language, Workers: 4, Size: 3000, Call: filepath.Join(b.Dir(), "backend.sock"), Journal: filepath.Join(b.Dir(), "journal"), Live: 1000, Echo: 40}
		server := Start(b, ns, "server"+string(language), addr, o)
		if b.Err() != nil {
			t.Fatal(b.Err())
		}
		c := dialIn(t, ns, addr)
		ask(t, c, o.Size) // the first is slower: a connection to the backend, code that is loaded
		for _, told := range []struct {
			to      *Server
			on, off string
		}{{server, "wait 300000", "wait 0"}, {server, "work 300000", "work 0"}, {backend, "wait 300000", "wait 0"}} {
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
