package sockets

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

func TestErrorsThatCallsReturn(t *testing.T) {
	// Not beside the next one, whose calls are this process' too.
	b := newBench(t)
	l := b.listen("127.0.0.1:7031")
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
	time.Sleep(300 * time.Millisecond)
	const n = 5
	for range n {
		c := b.dial("127.0.0.1:7031")
		s := <-accepted
		c.SetLinger(0)
		c.Close() // resets
		time.Sleep(10 * time.Millisecond)
		s.Write([]byte("x")) // EPIPE: Go has taken the socket's own error by then, or ECONNRESET
		s.Write([]byte("x"))
		s.Close()
	}
	// Only of a process that is known to be short of something.
	b.env.Watch.Failing(os.Getpid())
	made := uint64(0)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	deadline := time.Now().Add(4 * time.Second)
	for time.Now().Before(deadline) {
		b.do(func() error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			made++
			_, _ = full.WriteString("no room")
			_ = os.Chmod("/proc/sys/kernel/ostype", 0o700)
			_, _ = os.Stat("/proc/there-is-none")
			unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{192, 0, 2, 1}}) // not an address of this host
			return nil
		})
		time.Sleep(50 * time.Millisecond)
	}
	r.Stop()
	rec := b.needs(r, "sockets.errors")
	got, files := map[string]uint64{}, map[string]uint64{}
	for _, e := range rec.CallErrors {
		if e.Path != "" && e.PID == os.Getpid() {
			files[e.Call+" "+e.Errno+" "+e.Path+" in "+e.Mount] += e.N
		}
		if e.Netns != b.id || e.Path != "" {
			continue
		}
		if e.PID != os.Getpid() {
			t.Errorf("whose error is %+v", e)
		}
		if e.Call != "bind" && (recording.Port(e.Local) != "7031" || e.Remote == "") {
			t.Errorf("no addresses in %+v", e)
		}
		got[e.Call+" "+e.Errno] += e.N
	}
	t.Log(got, files)
	if files["write ENOSPC /dev/full in /dev"] == 0 || files["chmod EPERM /proc/sys/kernel/ostype in /proc/sys"]+files["chmod EPERM /proc/sys/kernel/ostype in /proc"] == 0 {
		t.Errorf("calls on files that failed: %v", files)
	}
	if got["socket ECONNRESET"] != n || got["send EPIPE"]+got["send ECONNRESET"] != 2*n {
		t.Errorf("errors %v, want %d resets of sockets and %d failed sends", got, n, 2*n)
	}
	// Attached for 3 s from a tick on: not for the first of them.
	if c := got["bind EADDRNOTAVAIL"]; c == 0 || c >= made {
		t.Errorf("%d of %d binds that failed were seen, want those of 3 s", c, made)
	}
	if c, _ := rec.Measured("sockets.errors"); !strings.Contains(c.Why, "looked at for ") {
		t.Errorf("the coverage says %q", c.Why)
	}
}

// A namespace of a hundred ports, of which 90 are taken towards one service: its
// client's calls are looked at, though the machine's own range has room.
func TestWhoIsShortOfItsNamespacesPortsIsLookedAt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.do(func() error {
		return os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40099"), 0o644)
	})
	b.listen("127.0.0.1:7041")
	for range 90 {
		b.dial("127.0.0.1:7041")
	}
	r := b.start()
	deadline := time.Now().Add(4 * time.Second)
	for time.Now().Before(deadline) {
		b.do(func() error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{192, 0, 2, 1}})
			return nil
		})
		time.Sleep(50 * time.Millisecond)
	}
	r.Stop()
	rec := b.needs(r, "sockets.errors")
	for _, e := range rec.CallErrors {
		if e.Netns == b.id && e.PID == os.Getpid() && e.Call == "bind" && e.Errno == "EADDRNOTAVAIL" {
			return
		}
	}
	t.Errorf("no error of bind is among %+v", rec.CallErrors)
}

func TestErrorsAddUpByProcessAndService(t *testing.T) {
	row := func(pid int, remote string, n uint64) recording.CallError {
		return recording.CallError{Netns: 1, PID: pid, Call: "recv", Errno: "ECONNRESET", Proto: "tcp", Local: "10.0.0.1:80", Remote: remote, N: n}
	}
	got := addErrors([]recording.CallError{row(8, "10.0.0.9:40001", 1), row(8, "10.0.0.9:40002", 3), row(9, "10.0.0.9:40003", 1)})
	if len(got) != 2 || got[0].N != 4 || got[0].Remote != "10.0.0.9:40002" || got[1].PID != 9 {
		t.Errorf("%+v", got)
	}
}
