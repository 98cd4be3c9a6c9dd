package sockets

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

func TestResetsNameBothEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7004")
	accepted := make(chan net.Conn, 16)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	r := b.start()
	time.Sleep(1200 * time.Millisecond)
	const n = 9
	for range n {
		c := b.dial("127.0.0.1:7004")
		s := <-accepted
		c.SetLinger(0)
		// What tests beside this one start has its files until it is executed, and whoever
		// closes last sends the reset.
		syscall.ForkLock.RLock()
		c.Close()
		syscall.ForkLock.RUnlock()
		s.Read(make([]byte, 1))
		s.Close()
	}
	b.do(func() error {
		net.Dial("tcp4", "127.0.0.1:7005") // nobody listens
		return nil
	})
	time.Sleep(100 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.resets")
	got := map[string]uint64{}
	for _, x := range rec.Resets {
		if x.Netns != b.id {
			continue
		}
		key := fmt.Sprint(x.Dir, " ", recording.Port(x.Local) == "7004", recording.Port(x.Remote) == "7004",
			recording.Port(x.Local) == "7005", recording.Port(x.Remote) == "7005", " ", x.State, " ", x.Reason, " ", x.PID == os.Getpid())
		if recording.Port(x.Local) == "0" || recording.Port(x.Remote) == "0" {
			t.Errorf("a port is missing in %+v", x)
		}
		got[key] += x.N
	}
	withReasons := false
	for _, x := range rec.Resets {
		withReasons = withReasons || x.Reason != ""
	}
	// SO_LINGER 0 ends in tcp_disconnect (net/ipv4/tcp.c), by then in CLOSE.
	linger, closed := "TCP_STATE", "NO_SOCKET"
	if !withReasons {
		linger, closed = "", ""
	}
	want := map[string]uint64{
		"sent false true false false CLOSE " + linger + " true": n,
		"received true false false false ESTABLISHED  true":     n,
		"sent false false true false  " + closed + " false":     1,
		"received false false false true SYN_SENT  true":        1,
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%q: %d, want %d", k, got[k], v)
		}
		delete(got, k)
	}
	if len(got) > 0 {
		t.Errorf("more resets than were made: %v", got)
	}
	if !b.sink.Noticed("first resets", "127.0.0.1:7004") {
		t.Errorf("notices %q", b.sink.Notices())
	}
}

func TestRetransmitsNameTheFlow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7006")
	go answer(l)
	c := b.dial("127.0.0.1:7006")
	time.Sleep(50 * time.Millisecond)
	b.run("ip", "netns", "exec", b.name, "nft", "add table ip cut; add chain ip cut in { type filter hook input priority 0; }; add rule ip cut in tcp dport 7006 drop")
	r := b.start()
	time.Sleep(50 * time.Millisecond)
	c.Write(make([]byte, 20))
	// A loss probe, then timeouts after 0.2, 0.6 and 1.4 s (tcp_retransmit_timer doubles).
	// The last sample of the sockets is taken a little after the last event, so none may
	// come between: once the data has arrived there are no more.
	time.Sleep(time.Second)
	b.run("ip", "netns", "exec", b.name, "nft", "delete table ip cut")
	if _, err := c.Read(make([]byte, 20)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.retransmits")
	n := uint64(0)
	for _, x := range rec.Retransmits {
		if x.Netns != b.id {
			continue
		}
		if x.Local != c.LocalAddr().String() || x.Remote != "127.0.0.1:7006" || x.PID != os.Getpid() || x.State != "ESTABLISHED" {
			t.Errorf("retransmit of %+v", x)
		}
		n += x.N
	}
	total := 0
	for _, s := range rec.Sockets {
		if s.Netns == b.id && s.Local == c.LocalAddr().String() && s.TCP != nil {
			total = s.TCP.TotalRetrans
		}
	}
	if n == 0 || int(n) != total {
		t.Errorf("counted %d retransmits, the socket %d", n, total)
	}
}

func TestBrokenPipeIsSeen(t *testing.T) {
	// Not parallel: only the first SIGPIPE is announced, and other tests cause some.
	b := newBench(t)
	r := b.start()
	time.Sleep(200 * time.Millisecond)
	// `yes` writes on into a pipe that nobody reads any more.
	cmd := exec.Command("yes")
	p, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.Read(make([]byte, 10))
	p.Close()
	cmd.Wait()
	stopped := exec.Command("sleep", "60")
	if err := stopped.Start(); err != nil {
		t.Fatal(err)
	}
	unix.Kill(stopped.Process.Pid, unix.SIGSTOP)
	unix.Kill(stopped.Process.Pid, unix.SIGCONT)
	stopped.Process.Kill()
	stopped.Wait()
	crashed := exec.Command("python3", "-c", "import ctypes; ctypes.string_at(0)") // the kernel sends it SIGSEGV
	crashed.Run()
	time.Sleep(100 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.signals")
	got := map[string]float64{}
	for _, e := range rec.Events {
		if e.Kind == recording.EventSignal && e.Subject.PID == crashed.Process.Pid {
			got["crashed "+e.Attrs["signal"]+" by "+e.Attrs["by"]] += e.Value
		}
		if e.Kind == recording.EventSignal && (e.Subject.PID == cmd.Process.Pid || e.Subject.PID == stopped.Process.Pid) {
			if e.Attrs["by"] != "" {
				t.Errorf("a process sent it: %+v", e)
			}
			got[e.Subject.Comm+" "+e.Attrs["signal"]+" "+strconv.FormatBool(e.Attrs["from_pid"] == fmt.Sprint(os.Getpid()))] += e.Value
		}
	}
	want := map[string]float64{"yes SIGPIPE false": 1, "sleep SIGSTOP true": 1, "sleep SIGCONT true": 1, "sleep SIGKILL true": 1, "crashed SIGSEGV by kernel": 1}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %v, want %v; all: %v", k, got[k], v, got)
		}
	}
	if !b.sink.Noticed("SIGPIPE", "yes") {
		t.Errorf("notices %q", b.sink.Notices())
	}
}
