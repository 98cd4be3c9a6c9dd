package rtmp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/internal/rtmp"
	"snag/probes/streams/stream"
)

// script is a server of one or more connections, which ends with the test.
func script(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, serve)
	return l.Addr().String()
}

func serveOn(t *testing.T, l net.Listener, serve func(net.Conn)) {
	t.Helper()
	var group sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			group.Go(func() { defer c.Close(); serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		group.Wait()
	})
}

// shake is a server's side of the handshake, in two parts.
func shake(c net.Conn) bool {
	b := make([]byte, 1+2*rtmp.HandshakeSize)
	if _, err := io.ReadFull(c, b[:1+rtmp.HandshakeSize]); err != nil {
		return false
	}
	b[0] = rtmp.Version
	if _, err := c.Write(b[:700]); err != nil {
		return false
	}
	if _, err := c.Write(b[700:]); err != nil {
		return false
	}
	_, err := io.ReadFull(c, b[:rtmp.HandshakeSize])
	return err == nil
}

// after answers each step when the player has asked for it, and goes on.
func after(rest func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		if !shake(c) {
			return
		}
		p, buf := rtmp.NewParser(), make([]byte, 4096)
		for commands := 0; commands < 3; {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			for b := buf[:n]; len(b) > 0; {
				k, m, err := p.Next(b)
				if err != nil {
					return
				}
				if b = b[k:]; m != nil && m.Type == rtmp.TypeCommandAMF0 {
					commands++
				}
			}
			if commands == 1 { // all answers at once: a player must take them in turn
				if _, err := c.Write((&server{}).letIn().b); err != nil {
					return
				}
			}
		}
		rest(c)
	}
}

func openAt(t *testing.T, ctx context.Context, raw string, sink stream.Sink, o stream.Options) error {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	return Open(ctx, u, sink, o)
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	write := func(s string) func(net.Conn) {
		return func(c net.Conn) {
			if _, err := io.WriteString(c, s); err == nil {
				io.Copy(io.Discard, c)
			}
		}
	}
	silent := func(c net.Conn) { io.Copy(io.Discard, c) }
	shaken := func(rest func(net.Conn)) func(net.Conn) {
		return func(c net.Conn) {
			if shake(c) {
				rest(c)
			}
		}
	}
	for _, c := range []struct {
		name  string
		serve func(net.Conn)
		tls   bool
		want  []string
	}{
		{"silence", silent, false, []string{"RTMP handshake", "no answer within 300ms"}},
		{"HTTP", write("HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\n"), false, []string{"RTMP handshake", "answers HTTP, not RTMP"}},
		{"RTSP", write("RTSP/1.0 400 Bad Request\r\n\r\n"), false, []string{"answers RTSP, not RTMP: use rtsp://"}},
		{"SSH", write("SSH-2.0-OpenSSH_9.2p1\r\n"), false, []string{"answers SSH"}},
		{"TLS", write("\x15\x03\x01\x00\x02\x02\x46....................."), false, []string{"answers TLS", "rtmps://"}},
		{"something", write("220 mail.example ESMTP\r\n"), false, []string{`answers "220 mail.example ESMTP..`}},
		{"TLS that is none", write("HTTP/1.1 400 Bad Request\r\n\r\n"), true, []string{"TLS handshake", "does not speak TLS"}},
		{"closed at once", func(net.Conn) {}, false, []string{"RTMP handshake"}},
		{"closed in the handshake", func(c net.Conn) {
			io.ReadFull(c, make([]byte, 1+rtmp.HandshakeSize))
			c.Write(append([]byte{3}, make([]byte, 99)...))
		}, false, []string{"RTMP handshake", "closed the connection after 100 of 3073 bytes"}},
		{"handshake cut short", write("\x03" + strings.Repeat("x", 99)), false, []string{"RTMP handshake", "no answer within"}},
		{"silence after the handshake", shaken(silent), false, []string{"wait for the answer to connect to the application live", "within 300ms"}},
		{"closed after connect", shaken(func(c net.Conn) { c.Read(make([]byte, 4096)) }), false, []string{"connect to the application live", "connection"}},
		{"silence after connect", shaken(write(string((&server{}).command(0, "_result", 1, nil, nil).b))), false, []string{"wait for the answer to createStream"}},
		{"silence after createStream", shaken(write(string((&server{}).command(0, "_result", 1, nil, nil).command(0, "_result", 2, nil, 1).b))), false, []string{"wait for the answer to play"}},
		{"not chunks", shaken(write("\xff\xff\xff\xff")), false, []string{"what is not RTMP", "never sent"}},
	} {
		scheme := "rtmp://"
		if c.tls {
			scheme = "rtmps://"
		}
		err := openAt(t, context.Background(), scheme+script(t, c.serve)+"/live/cam1?token=abcdef", &seen{}, stream.Options{Timeout: 300 * time.Millisecond})
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, w := range append(c.want, "read "+scheme+"127.0.0.1:", "/live/cam1") {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", c.name, err, w)
			}
		}
		if strings.Contains(err.Error(), "abcdef") {
			t.Errorf("%s: the token is in %q", c.name, err)
		}
	}
}

func TestOpenWhereNothingListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	err = openAt(t, context.Background(), "rtmp://"+l.Addr().String()+"/live/x", &seen{}, stream.Options{})
	if err == nil || !strings.Contains(err.Error(), "nothing listens there") {
		t.Errorf("%v", err)
	}
	err = openAt(t, context.Background(), "rtmp://no-such-host.invalid/live/x", &seen{}, stream.Options{Timeout: 20 * time.Second})
	if err == nil || !strings.Contains(err.Error(), "no-such-host.invalid") {
		t.Errorf("%v", err)
	}
}

// pictures sends n pictures, one each step, and closes.
func pictures(n int, step time.Duration) func(net.Conn) {
	return after(func(c net.Conn) {
		for i := range n {
			var s server
			head := "\x27\x01\x00\x00\x00"
			if i%5 == 0 {
				head = "\x17\x01\x00\x00\x00"
			}
			if _, err := c.Write(s.media(rtmp.TypeVideo, uint32(i)*40, head+strings.Repeat("p", 1000)).b); err != nil {
				return
			}
			time.Sleep(step)
		}
		if half, ok := c.(interface{ CloseWrite() error }); ok { // what the player sent and nobody read would make it a reset
			half.CloseWrite()
			io.Copy(io.Discard, c)
		}
	})
}

func TestOpenReadsToTheEnd(t *testing.T) {
	for _, every := range []time.Duration{0, 40 * time.Millisecond} {
		sink := &seen{}
		err := openAt(t, context.Background(), "rtmp://"+script(t, pictures(20, 5*time.Millisecond))+"/live/cam1", sink, stream.Options{Every: every})
		var ended *stream.Ended
		if !errors.As(err, &ended) || ended.Why != "connection closed by the server" {
			t.Errorf("every %v: %v", every, err)
		}
		if sink.published != 1 || len(sink.frames) != 20 {
			t.Fatalf("every %v: published %d times, %d frames", every, sink.published, len(sink.frames))
		}
		arrivals := map[int64]bool{}
		for i, f := range sink.frames {
			arrivals[f.Arrival] = true
			if f.DTS != int64(i)*40e6 || f.Key != (i%5 == 0) || f.Size != 1000 || i > 0 && f.Arrival < sink.frames[i-1].Arrival {
				t.Errorf("every %v: frame %d is %+v", every, i, f)
			}
		}
		if every > 0 && len(arrivals) > 12 { // 100 ms are 2 or 3 reads, some more on a busy machine
			t.Errorf("every %v: read %d times", every, len(arrivals))
		}
	}
}

func TestOpenReturnsNilWhenToldToStop(t *testing.T) {
	idle := func(c net.Conn) { io.Copy(io.Discard, c) }
	for _, c := range []struct {
		name  string
		serve func(net.Conn)
		every time.Duration
	}{
		{"in the handshake", idle, 0}, {"let in, at once", after(idle), 0}, {"let in, every second", after(idle), time.Second},
		{"after connect", func(c net.Conn) { shake(c); idle(c) }, 0},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		began := time.Now()
		err := openAt(t, ctx, "rtmp://"+script(t, c.serve)+"/live/cam1", &seen{}, stream.Options{Every: c.every, Timeout: time.Minute})
		cancel()
		if took := time.Since(began); err != nil || took > 5*time.Second {
			t.Errorf("%s: %v after %v", c.name, err, took)
		}
	}
}

// A server that sends messages of 16 MB without end, and one that pings without
// reading the answers, are given no memory.
func TestAHostileServerGetsNoMemory(t *testing.T) {
	huge := (&server{}).number(rtmp.TypeSetChunkSize, rtmp.MaxChunkSize).b
	huge = append(huge, 3, 0, 0, 0, 0xff, 0xff, 0xff, rtmp.TypeCommandAMF0, 0, 0, 0, 0)
	pings := (&server{}).event(rtmp.EventPingRequest, 1).b
	for len(pings) < 64<<10 {
		pings = append(pings, pings...)
	}
	for name, serve := range map[string]func(net.Conn){
		"a message of 16 MB": after(func(c net.Conn) {
			c.Write(huge)
			for range 400 {
				if _, err := c.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}),
		"pings": after(func(c net.Conn) {
			for {
				if _, err := c.Write(pings); err != nil {
					return
				}
			}
		}),
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		err := openAt(t, ctx, "rtmp://"+script(t, serve)+"/live/cam1", &seen{}, stream.Options{Every: time.Millisecond})
		cancel()
		runtime.GC()
		runtime.ReadMemStats(&now)
		if grown := int64(now.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
			t.Errorf("%s: %d bytes more on the heap", name, grown)
		}
		if err == nil {
			t.Errorf("%s: read for 10 s and no end", name)
		}
	}
}

// What 100 streams hold, the server's side of the test among it.
func TestAStreamHoldsLittle(t *testing.T) {
	const streams = 100
	var playing sync.WaitGroup
	playing.Add(streams)
	address := script(t, after(func(c net.Conn) {
		var s server
		if _, err := c.Write(s.media(rtmp.TypeVideo, 0, "\x17\x01\x00\x00\x00"+strings.Repeat("p", 60_000)).b); err == nil {
			playing.Done()
		}
		io.Copy(io.Discard, c)
	}))
	measure := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := measure()
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for range streams {
		group.Go(func() {
			if err := openAt(t, ctx, "rtmp://"+address+"/live/cam1", &seen{}, stream.Options{Every: 20 * time.Millisecond, Timeout: 20 * time.Second}); err != nil {
				t.Error(err)
			}
		})
	}
	playing.Wait()
	time.Sleep(100 * time.Millisecond)
	each := (int64(measure()) - int64(before)) / streams
	cancel()
	group.Wait()
	if each > 100<<10 {
		t.Errorf("%d bytes a stream, want no more than 0.1 MiB", each)
	}
	t.Logf("%d bytes a stream", each)
}
