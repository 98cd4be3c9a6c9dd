package wire

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestShownHidesUserAndValues(t *testing.T) {
	for in, want := range map[string]string{
		"rtsp://joe:secret@cam/1?token=abc&x=y#frag": "rtsp://cam/1?token=…&x=…",
		"rtsp://cam:554/1":                           "rtsp://cam:554/1",
		"srt://h:1?abcdef":                           "srt://h:1?=…",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := Shown(u); got != want {
			t.Errorf("Shown(%s) = %s, want %s", in, got, want)
		}
	}
}

// A datagram that waited in the socket's buffer came when the kernel took it.
func TestArrivalIsTheKernels(t *testing.T) {
	u, err := ListenUDP("", netip.MustParseAddrPort("127.0.0.1:0"), Monotonic)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	c, err := net.Dial("udp", u.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// The kernel begins to stamp a moment after it was asked (net_enable_timestamp
	// leaves it to a worker); until then a datagram has the time of reading.
	time.Sleep(200 * time.Millisecond)
	before := Monotonic()
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	sent := Monotonic()
	time.Sleep(300 * time.Millisecond)
	buf := make([]byte, 10)
	n, _, at, err := u.Receive(buf)
	if err != nil || n != 1 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if late := time.Duration(at - sent); at < before-int64(50*time.Millisecond) || late > 150*time.Millisecond {
		t.Errorf("arrival %s after it was sent; read 300 ms after", late)
	}
}

// Sockets are in the namespace that was asked for.
func TestNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	name := fmt.Sprintf("snag-wire-%d", os.Getpid())
	for _, args := range [][]string{{"netns", "add", name}, {"-n", name, "link", "set", "lo", "up"}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	path := "/run/netns/" + name
	l, err := Listen(path, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if c, err := Dial(context.Background(), "", "127.0.0.1", port, time.Second); err == nil {
		_ = c.Close()
		t.Error("it is to be reached from the own namespace")
	}
	c, err := Dial(context.Background(), path, "localhost", port, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if _, err := ListenUDP(path, netip.MustParseAddrPort("127.0.0.1:9000"), Monotonic); err != nil {
		t.Error(err)
	}
	if _, err := ListenUDP("/nowhere", netip.MustParseAddrPort("127.0.0.1:9000"), Monotonic); err == nil {
		t.Error("a socket in no namespace")
	}
}

// Frames' arrivals stand beside what the kernel's clock says elsewhere in a recording.
func TestMonotonicIsTheKernels(t *testing.T) {
	for range 100 {
		var now unix.Timespec
		before := Monotonic()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			t.Fatal(err)
		}
		after := Monotonic()
		if ns := now.Nano(); ns < before-100_000 || ns > after+100_000 {
			t.Fatalf("%d, and the kernel says %d", before, ns)
		}
	}
}
