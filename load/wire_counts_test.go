package load

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Segments are counted of each connection, and none is sent again on loopback.
func TestWireCounts(t *testing.T) {
	p := plan(null(t, "http://127.0.0.1:1/", Request{}))
	p.Rate, p.For = 200, 500*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	// The first request of each connection is not counted.
	if want := r.Sent - int64(p.Conns); r.Wire.Segments != want || r.Wire.Resent != 0 || r.Wire.MinRTT <= 0 || r.Wire.MinRTT > time.Second {
		t.Errorf("%+v, want %d segments", r.Wire, want)
	}
	u := plan(null(t, "udp://127.0.0.1:1", Request{Size: 64, Reply: 64}))
	if r, err = Run(context.Background(), u); err != nil || r.Wire != (Wire{}) {
		t.Errorf("of datagrams: %+v, %v", r.Wire, err)
	}
}

// TCP_MAXSEG bounds the segments, by a dialer as well.
func TestMaxSegment(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := SocketOptions{MaxSegment: 536}.Dial(context.Background(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) {
		if i, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err != nil || i.Snd_mss > 536 || i.Advmss > 536 {
			t.Errorf("%+v, %v", i, err)
		}
	})
}

// The requests that do nothing, and those that fill segments, are requests of their protocol.
func TestVariants(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://h/p?q=1", "https://h/", "grpc://h:1/a.S/M", "redis://h", "postgres://u@h/d"} {
		r := Request{Data: map[bool]string{true: "GET key"}[strings.HasPrefix(url, "redis")], HTTP2: url == "https://h/"}
		nothing, what, err := Nothing(url, r)
		if err != nil || what == "" || nothing.Protocol == nil || nothing.Secure() != (url == "https://h/") {
			t.Errorf("%s: %+v, %q, %v", url, nothing, what, err)
		}
		padded, err := Padded(url, r)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		size := 0
		for _, w := range padded.Protocol.New().Ask(0) {
			size += len(w)
		}
		if size < 2500 {
			t.Errorf("%s: a padded request has %d bytes", url, size)
		}
	}
	for _, w := range mustNothing(t, "http://h/p?q=1").Protocol.New().Ask(0) {
		if text := string(w); !strings.HasPrefix(text, "HEAD "+nowhere+" HTTP/1.1\r\n") {
			t.Errorf("%q", text)
		}
	}
	if _, _, err := Nothing("tcp://h:1", Request{Size: 1}); !errors.Is(err, ErrNoVariant) {
		t.Errorf("tcp: %v", err)
	}
	if _, err := Padded("dns://h/n", Request{}); !errors.Is(err, ErrNoVariant) {
		t.Errorf("dns: %v", err)
	}
}

func mustNothing(t *testing.T, url string) Target {
	t.Helper()
	out, _, err := Nothing(url, Request{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
