package sockets

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// sockets of the bench's namespace with that local address, by time.
func (b *bench) rows(rec *recording.Recording, local string) []recording.Socket {
	var out []recording.Socket
	for _, s := range rec.Sockets {
		if s.Netns == b.id && s.Local == local {
			out = append(out, s)
		}
	}
	return out
}

func TestAReaderThatDoesNotReadIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7007")
	c := b.dial("127.0.0.1:7007")
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := b.start()
	c.SetWriteDeadline(time.Now().Add(1500 * time.Millisecond))
	for {
		if _, err := c.Write(make([]byte, 64<<10)); err != nil {
			break
		}
	}
	time.Sleep(2 * time.Second)
	r.Stop()
	rec := b.needs(r, "sockets.diag")
	var reader, writer recording.Socket
	for _, x := range b.rows(rec, "127.0.0.1:7007") {
		if x.State == "ESTABLISHED" {
			reader = x
		}
	}
	for _, x := range b.rows(rec, c.LocalAddr().String()) {
		writer = x
	}
	if reader.RecvQ < 10_000 || reader.RcvBuf == 0 || reader.Rmem == 0 || len(reader.Owners) != 1 || reader.Owners[0].PID != os.Getpid() {
		t.Errorf("reader: %+v", reader)
	}
	if writer.SendQ < 10_000 || writer.Timer != "persist" || writer.TCP == nil || writer.TCP.RwndLimited <= 0 || writer.TCP.NotSent < 10_000 || writer.Cong == "" {
		t.Errorf("writer: %+v %+v", writer, writer.TCP)
	}
	if !b.env.Watch.Has(os.Getpid()) {
		t.Error("the owner is not watched")
	}
	if reader.Options == nil || writer.Options == nil || writer.Options.NoDelay == nil || !*writer.Options.NoDelay {
		t.Errorf("options: reader %+v, writer %+v", reader.Options, writer.Options)
	}
	if n := len(b.rows(rec, c.LocalAddr().String())); n < 4 {
		t.Errorf("%d rows of a suspicious socket in 3.5 s, want one per second", n)
	}
}

func TestIdleSocketsGetTheFirstAndTheLastRow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7008")
	c := b.dial("127.0.0.1:7008")
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := b.start()
	time.Sleep(3200 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.diag")
	if n := len(b.rows(rec, c.LocalAddr().String())); n != 2 {
		t.Errorf("%d rows of an idle socket, want 2", n)
	}
	if got, _ := rec.Measured("sockets.diag"); got.Since == 0 || got.Cost <= 0 {
		t.Errorf("coverage %+v", got)
	}
	if s := rec.Select("snag_probe_cpu_seconds_total", "probe", "sockets"); len(s) != 1 || len(s[0].Points) < 4 {
		t.Errorf("samples of the probe's cost: %v", s)
	}
}

func TestUDPDropsAndCloseNameTheSocket(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var in, out *net.UDPConn
	b.do(func() (err error) {
		if in, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7009}); err != nil {
			return err
		}
		out, err = net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7009})
		return err
	})
	defer in.Close()
	defer out.Close()
	in.SetReadBuffer(4096)
	r := b.start()
	time.Sleep(300 * time.Millisecond)
	for range 500 {
		out.Write(make([]byte, 1000))
	}
	time.Sleep(2200 * time.Millisecond)
	// What it holds by its own account, for the exact number.
	raw, _ := in.SyscallConn()
	var drops uint32
	raw.Control(func(fd uintptr) { drops = memInfoDrops(t, int(fd)) })
	in.Close()
	time.Sleep(1200 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.diag")
	rows := b.rows(rec, "127.0.0.1:7009")
	last := rows[len(rows)-1]
	if drops == 0 || last.Drops != uint64(drops) || last.State != "UNCONN" || last.RecvQ == 0 || last.Owners[0].PID != os.Getpid() {
		t.Errorf("drops %d: %+v", drops, last)
	}
	if last.Options == nil || last.Options.RcvBuf != last.RcvBuf {
		t.Errorf("options %+v of %+v", last.Options, last)
	}
	var closed []recording.Event
	for _, e := range rec.Events {
		if e.Kind == recording.EventSocketClosed && e.Subject.Netns == b.id {
			closed = append(closed, e)
		}
	}
	if len(closed) != 1 || closed[0].Subject.Local != "127.0.0.1:7009" || closed[0].Subject.PID != os.Getpid() || closed[0].Subject.Comm == "" {
		t.Errorf("closed: %+v", closed)
	}
	if !b.sink.Noticed("receive-buffer drops", fmt.Sprint("[", os.Getpid(), "]")) {
		t.Errorf("notices %q", b.sink.Notices())
	}
}

// memInfoDrops reads SO_MEMINFO, an array of nine u32.
func memInfoDrops(t *testing.T, fd int) uint32 {
	t.Helper()
	const soMemInfo = 55
	var v [9]uint32
	n := uint32(len(v) * 4)
	if err := getsockopt(fd, unix.SOL_SOCKET, soMemInfo, v[:], &n); err != nil {
		t.Fatal(err)
	}
	return v[8]
}

func TestFullListenQueueIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var fd int
	b.do(func() (err error) { // a backlog of 2, and nobody accepts
		if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		if err = unix.Bind(fd, &unix.SockaddrInet4{Port: 7010}); err != nil {
			return err
		}
		return unix.Listen(fd, 2)
	})
	defer unix.Close(fd)
	r := b.start()
	for range 3 {
		b.dial("127.0.0.1:7010")
	}
	time.Sleep(1500 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.diag")
	full := false
	for _, s := range b.rows(rec, "0.0.0.0:7010") {
		full = full || (s.State == "LISTEN" && s.RecvQ == 3 && s.SendQ == 2 && s.Owners[0].PID == os.Getpid() && s.Remote == "")
	}
	if !full {
		t.Errorf("rows %+v", b.rows(rec, "0.0.0.0:7010"))
	}
	if !b.sink.Noticed("listen queue full", "0.0.0.0:7010") {
		t.Errorf("notices %q", b.sink.Notices())
	}
}

func TestStopsWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := startWith(ctx, b.env, 1)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	done := make(chan struct{})
	go func() { r.Stop(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it does not stop")
	}
	if c, ok := b.sink.Recording().Measured("sockets.diag"); !ok {
		t.Errorf("coverage %+v", c)
	}
}

func TestANamespaceThatGoesAwayIsNotHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other := newBench(t)
	other.env = b.env
	var u *net.UDPConn
	other.do(func() (err error) {
		u, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7012})
		return err
	})
	r := b.start()
	time.Sleep(1300 * time.Millisecond)
	u.Close()
	other.ns.Close()
	other.run("ip", "netns", "del", other.name)
	time.Sleep(2200 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.diag")
	closed := 0
	for _, e := range rec.Events {
		if e.Kind == recording.EventSocketClosed && e.Subject.Netns == other.id && e.Subject.Local == "127.0.0.1:7012" {
			closed++
		}
	}
	if closed != 1 {
		t.Errorf("%d events of the socket that went with its namespace", closed)
	}
	if c, _ := rec.Measured("sockets.diag"); c.State != recording.CoverageOK {
		t.Errorf("coverage %+v", c)
	}
	// No descriptor of the probe keeps it: the kernel forgets it.
	if refs := nsRefs(t, other.id); refs > 0 {
		t.Errorf("this process holds the namespace by %d descriptors", refs)
	}
}

func nsRefs(t *testing.T, id uint64) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range fds {
		if link, _ := os.Readlink("/proc/self/fd/" + f.Name()); link == fmt.Sprintf("net:[%d]", id) {
			n++
		}
	}
	return n
}
