package wire

import (
	"net"
	"net/netip"
	"net/url"
	"testing"
	"time"
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
