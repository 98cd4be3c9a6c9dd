package ps

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

// packetize cuts a program stream into RTP packets as a device does.
func packetize(all []byte, each int) [][]byte {
	var out [][]byte
	for i := 0; i*each < len(all); i++ {
		b := make([]byte, 12)
		b[0], b[1] = 0x80, 96
		binary.BigEndian.PutUint16(b[2:], uint16(65500+i))
		binary.BigEndian.PutUint32(b[4:], uint32(i*300))
		binary.BigEndian.PutUint32(b[8:], 0x1234)
		out = append(out, append(b, all[i*each:min((i+1)*each, len(all))]...))
	}
	return out
}

// open listens at a URL in the background.
func open(ctx context.Context, text string, sink stream.Sink) <-chan error {
	done := make(chan error, 1)
	u, err := url.Parse(text)
	if err != nil {
		done <- err
		return done
	}
	go func() { done <- Open(ctx, u, sink, stream.Options{Timeout: 3 * time.Second}) }()
	return done
}

func freePort(t *testing.T) int {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}

// dialUntil connects once the listener is there.
func dialUntil(t *testing.T, network string, port int) net.Conn {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial(network, fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return c
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// ffmpeg's program stream, over UDP in order and out of it with a loss, and over TCP.
func TestFFmpeg(t *testing.T) {
	path := film(t, 3, "libx264")
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	packets := packetize(all, 1400)
	keys, _ := probed(t, path)
	for _, c := range []struct {
		name      string
		lose      bool
		swap      bool
		reordered uint64
		lost      uint64
		least     int
	}{
		{"in order", false, false, 0, 0, len(keys)},
		{"swapped", false, true, 1, 0, len(keys)},
		{"lost", true, false, 0, 1, len(keys) - 4},
	} {
		t.Run("UDP "+c.name, func(t *testing.T) {
			port := freePort(t)
			ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
			defer cancel()
			sink := &taken{}
			done := open(ctx, fmt.Sprintf("ps+udp://127.0.0.1:%d", port), sink)
			time.Sleep(100 * time.Millisecond) // its socket is not to be seen from here
			s := dialUntil(t, "udp", port)
			defer s.Close()
			for i, p := range packets {
				switch {
				case c.lose && i == 100:
					continue
				case c.swap && i == 100:
					p = packets[101]
				case c.swap && i == 101:
					p = packets[100]
				}
				_, _ = s.Write(p)
				if i%8 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			time.Sleep(400 * time.Millisecond)
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if v := sink.of(stream.Video); len(v) < c.least || len(v) > len(keys) {
				t.Errorf("%d pictures of %d", len(v), len(keys))
			}
			if sink.counts[stream.PacketsLost] != c.lost || sink.counts[stream.PacketsReordered] != c.reordered || sink.local == "" {
				t.Errorf("counts %v, at %q", sink.counts, sink.local)
			}
		})
	}
	// In pieces that are not its own.
	send := func(t *testing.T, s net.Conn) {
		defer s.Close()
		var b []byte
		for _, p := range packets {
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(p))), p...)
		}
		for len(b) > 0 {
			n := min(len(b), 3000)
			if _, err := s.Write(b[:n]); err != nil {
				t.Error(err)
				return
			}
			b = b[n:]
		}
	}
	check := func(t *testing.T, sink *taken, err error) {
		t.Helper()
		var ended *stream.Ended
		if !errors.As(err, &ended) || !strings.Contains(err.Error(), "closed by the sender") {
			t.Errorf("%v", err)
		}
		if v := sink.of(stream.Video); len(v) != len(keys) || sink.counts != [stream.Counts]uint64{} {
			t.Errorf("%d pictures of %d, counts %v", len(v), len(keys), sink.counts)
		}
	}
	t.Run("TCP, the device connects", func(t *testing.T) {
		port := freePort(t)
		sink := &taken{}
		done := open(context.Background(), fmt.Sprintf("ps+tcp://127.0.0.1:%d?setup=passive", port), sink)
		send(t, dialUntil(t, "tcp", port))
		check(t, sink, <-done)
	})
	t.Run("TCP, to the device", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		sink := &taken{}
		done := open(context.Background(), "ps+tcp://"+l.Addr().String()+"?setup=active", sink)
		device, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		send(t, device)
		check(t, sink, <-done)
		if sink.local != device.RemoteAddr().String() {
			t.Errorf("read by %s, want %s", sink.local, device.RemoteAddr())
		}
	})
}

func TestOpenErrors(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close() // it takes connections, and says nothing
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for in, want := range map[string]string{
		"ps+udp://127.0.0.1":                                 `port ""`,
		"ps+udp://cam:5000":                                  "is not an address",
		"ps+tcp://" + busy.Addr().String():                   "another program receives there",
		fmt.Sprintf("ps+udp://:%d", freePort(t)):             "nobody sent to UDP port",
		fmt.Sprintf("ps+tcp://:%d?x=y", freePort(t)+1):       "nobody sent to TCP port",
		"ps+tcp://" + gone.Addr().String() + "?setup=active": "a=setup:passive in its answer",
		"ps+tcp://" + busy.Addr().String() + "?setup=active": "is connected and sent no packet within 150ms",
		"ps+tcp://:5000?setup=active":                        "connects to a device",
		"ps+tcp://:5000?setup=actpass":                       "active (snag connects",
		"ps+udp://:5000?setup=active":                        "ps+udp:// has none",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := Open(context.Background(), u, &taken{}, stream.Options{Timeout: 150 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
	for name, c := range map[string]struct {
		send []byte
		want string
	}{
		"HTTP":   {[]byte("GET / HTTP/1.1\r\n\r\n" + strings.Repeat("x", 40000)), "not RTP framed by RFC 4571"},
		"no PS":  {bytesOfRTP(), "no MPEG program stream is in it"},
		"closed": {nil, "closed by the sender"},
	} {
		port := freePort(t)
		done := open(context.Background(), fmt.Sprintf("ps+tcp://127.0.0.1:%d", port), &taken{})
		s := dialUntil(t, "tcp", port)
		_, _ = s.Write(c.send)
		_ = s.Close()
		if err := <-done; err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// bytesOfRTP is 1 MiB of RTP without a program stream, framed.
func bytesOfRTP() []byte {
	var b []byte
	for _, p := range packetize(make([]byte, 1<<20+5000), 1400) {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(p))), p...)
	}
	return b
}
