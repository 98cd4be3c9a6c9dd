package sockets

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// bench is a network namespace of its own with loopback up, and a probe that
// looks at it.
type bench struct {
	t    *testing.T
	name string
	id   uint64
	ns   *netns.Handle
	sink *probetest.Sink
	env  *probe.Env
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: network namespaces and BPF")
	}
	b := &bench{t: t, name: fmt.Sprintf("snags%d%d", os.Getpid(), time.Now().UnixNano()%1e6), sink: probetest.NewSink()}
	b.run("ip", "netns", "add", b.name)
	t.Cleanup(func() { exec.Command("ip", "netns", "del", b.name).Run() })
	b.run("ip", "-n", b.name, "link", "set", "lo", "up")
	path := "/run/netns/" + b.name
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	b.id = st.Ino
	h, err := netns.Open(netns.Namespace{ID: b.id, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	b.ns = h
	t.Cleanup(func() { h.Close() })
	own, err := netns.IDOf("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	b.env = &probe.Env{
		Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), Netns: own, Sink: b.sink,
		Watch: probe.NewWatch(100), Notice: b.sink.Notice,
		// Not SelfPID: here the sockets of the test are the ones to be seen.
	}
	return b
}

func (b *bench) run(name string, args ...string) {
	b.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		b.t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// do runs f on a thread inside the namespace.
func (b *bench) do(f func() error) {
	b.t.Helper()
	if err := b.ns.Do(f); err != nil {
		b.t.Fatal(err)
	}
}

// start starts the probe. Whatever else this machine does, all is measured whole.
func (b *bench) start() probe.Running {
	b.t.Helper()
	return b.startWith(1)
}

func (b *bench) startWith(share float64) probe.Running {
	b.t.Helper()
	r, err := startWith(context.Background(), b.env, share)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// listen opens a listener inside the namespace that accepts with backlog.
func (b *bench) listen(addr string) net.Listener {
	b.t.Helper()
	var l net.Listener
	b.do(func() (err error) {
		l, err = net.Listen("tcp", addr)
		return err
	})
	b.t.Cleanup(func() { l.Close() })
	return l
}

// dial connects from inside the namespace. The raw call stays on the thread.
func (b *bench) dial(addr string) *net.TCPConn {
	b.t.Helper()
	var c net.Conn
	b.do(func() (err error) {
		c, err = net.DialTimeout("tcp4", addr, 3*time.Second)
		return err
	})
	b.t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

func (b *bench) needs(r probe.Running, measure string) *recording.Recording {
	b.t.Helper()
	rec := b.sink.Recording()
	c, ok := rec.Measured(measure)
	if !ok {
		b.t.Fatalf("%s: %s: %s", measure, c.State, c.Why)
	}
	if c.Lost > 0 {
		b.t.Errorf("%s lost %d", measure, c.Lost)
	}
	return rec
}
