package ts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/streams/stream"
)

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// watched is a kept that may be looked at while it is given to.
type watched struct {
	mu sync.Mutex
	kept
}

func (w *watched) Published(at int64, l, r string) { w.do(func() { w.kept.Published(at, l, r) }) }
func (w *watched) Frame(f stream.Frame)            { w.do(func() { w.kept.Frame(f) }) }
func (w *watched) Params(p stream.Params)          { w.do(func() { w.kept.Params(p) }) }
func (w *watched) Count(c stream.Count, n uint64)  { w.do(func() { w.kept.Count(c, n) }) }
func (w *watched) Gauge(g stream.Gauge, v float64) { w.do(func() { w.kept.Gauge(g, v) }) }

func (w *watched) do(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func freePort(t *testing.T) int {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}

func parsed(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// ffmpeg sends to a URL until the test ends.
func ffmpeg(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("ffmpeg is not installed: make setup installs it")
	}
	c := exec.Command(path, append([]string{"-nostdin", "-v", "error", "-threads", "1", "-re",
		"-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25", "-f", "lavfi", "-i", "sine=sample_rate=48000"}, args...)...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
}

func TestLiveUDP(t *testing.T) {
	t.Parallel()
	codecs := []string{"-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a", "aac", "-ac", "2"}
	for _, c := range []struct {
		name, out, url string
		format         []string
		every          time.Duration
	}{
		{"unicast", "udp://127.0.0.1:%d?pkt_size=1316", "udp://127.0.0.1:%d", []string{"-f", "mpegts"}, 0},
		{"every 40 ms", "udp://127.0.0.1:%d?pkt_size=1316", "udp://:%d", []string{"-f", "mpegts"}, 40 * time.Millisecond},
		{"group of one source", "udp://239.255.77.1:%d?pkt_size=1316&localaddr=127.0.0.1", "udp://127.0.0.1@239.255.77.1:%d?interface=lo", []string{"-f", "mpegts"}, 0},
		{"in RTP", "rtp://127.0.0.1:%d", "udp://127.0.0.1:%d", []string{"-f", "rtp_mpegts"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			port := freePort(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var w watched
			done := make(chan error, 1)
			go func() {
				done <- Open(ctx, parsed(t, fmt.Sprintf(c.url, port)), &w, stream.Options{Now: monotonic, Every: c.every})
			}()
			ffmpeg(t, append(append(codecs, c.format...), fmt.Sprintf(c.out, port))...)
			select {
			case err := <-done:
				t.Fatalf("ended: %v", err)
			case <-time.After(4 * time.Second):
			}
			cancel()
			if err := <-done; err != nil {
				t.Errorf("after cancel: %v", err)
			}
			w.check(t)
		})
	}
}

func (w *watched) check(t *testing.T) {
	t.Helper()
	n, keys := w.of(stream.Video)
	if n < 25 || keys < 1 {
		t.Fatalf("%d pictures, %d of them key", n, keys)
	}
	if sounds, _ := w.of(stream.Audio); sounds < n {
		t.Errorf("%d frames of audio beside %d pictures: 48000/1024 per second are more", sounds, n)
	}
	var first, last stream.Frame
	for _, f := range w.frames {
		if f.Kind != stream.Video {
			continue
		}
		if first.Size == 0 {
			first = f
		}
		last = f
	}
	if fps := float64(n-1) * 1e9 / float64(last.DTS-first.DTS); fps < 24.9 || fps > 25.1 {
		t.Errorf("%.2f pictures per second by DTS, want 25", fps)
	}
	if pace := float64(last.DTS-first.DTS) / float64(last.Arrival-first.Arrival); pace < 0.7 || pace > 1.4 {
		t.Errorf("DTS moved at %.2f of arrival's pace", pace)
	}
	if w.counts[stream.ContinuityErrors] != 0 || w.counts[stream.PacketsLost] != 0 {
		t.Errorf("%d continuity errors, %d packets lost", w.counts[stream.ContinuityErrors], w.counts[stream.PacketsLost])
	}
	if w.let != 1 {
		t.Errorf("published %d times", w.let)
	}
	if _, ok := w.gauges[stream.PCRJitter]; !ok {
		t.Error("no PCR jitter")
	}
	told := fmt.Sprint(w.params)
	for _, want := range []string{"h264 160 120 25", "aac 0 0 0 48000 2"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in %s", want, told)
		}
	}
}

func TestOpenFails(t *testing.T) {
	quick := stream.Options{Now: monotonic, Timeout: 300 * time.Millisecond}
	open := func(s string, o stream.Options) error {
		return Open(context.Background(), parsed(t, s), &watched{}, o)
	}
	for s, want := range map[string]string{
		"udp://127.0.0.1":                       "no port",
		"udp://192.0.2.7:5000":                  "not this host's",
		"udp://239.1.1.1:5000?interface=nosuch": "interface nosuch",
		"udp://127.0.0.1:5000?program=0":        "program",
		"udp://%3A%3A1@127.0.0.1:5000":          "family",
	} {
		if err := open(s, quick); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", s, err, want)
		}
	}
	port := freePort(t)
	here := fmt.Sprintf("udp://127.0.0.1:%d", port)
	if err := open(here, quick); err == nil || !strings.Contains(err.Error(), "nothing came") {
		t.Errorf("silence: %v", err)
	}
	sent, stop := context.WithCancel(context.Background())
	defer stop()
	send := func(b func(i int) []byte) {
		c, err := net.Dial("udp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for i := 0; sent.Err() == nil; i++ {
			_, _ = c.Write(b(i))
			time.Sleep(5 * time.Millisecond)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { send(func(int) []byte { return make([]byte, 1316) }) })
	if err := open(here, quick); err == nil || !strings.Contains(err.Error(), "not MPEG-TS") {
		t.Errorf("zeros: %v", err)
	}
	stop()
	wg.Wait()
	sent, stop = context.WithCancel(context.Background())
	defer stop()
	all := packetsOf(t, "h264-aac.ts")
	for i, b := range all {
		if p := (packet{}); p.parse(b) && p.pid >= 0x100 && p.pid < 0x200 {
			all[i][3] |= 0xc0
		}
	}
	wg.Go(func() { send(func(i int) []byte { return all[i%len(all)] }) })
	err := open(here, stream.Options{Now: monotonic, Timeout: time.Second})
	var refused *stream.Refused
	if !errors.As(err, &refused) || !strings.Contains(refused.Why, "scrambled") {
		t.Errorf("scrambled: %v", err)
	}
	stop()
	wg.Wait()
}

// A socket that is not read overflows: that is told as the reader's own loss, and
// no gap is the stream's.
func TestOwnLossIsNotTheStreams(t *testing.T) {
	port := freePort(t)
	a, err := parseURL(context.Background(), parsed(t, fmt.Sprintf("udp://127.0.0.1:%d", port)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := listen(context.Background(), a, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.conn.Close()
	if err := s.conn.SetReadBuffer(8 << 10); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("udp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := &watched{}
	r := &receiver{address: a, options: stream.Options{Now: monotonic, Timeout: time.Minute}, sink: w, demux: New(w), began: monotonic()}
	r.grow(batchSize, usualSize)
	all := packetsOf(t, "h264-aac.ts")
	for _, p := range all {
		_, _ = c.Write(p)
	}
	for range 2 {
		_ = s.conn.SetReadDeadline(time.Now().Add(time.Second))
		n, err := s.batch.ReadBatch(r.messages, 0)
		if err != nil {
			t.Fatal(err)
		}
		r.take(r.messages[:n])
		// The next datagram that is taken in tells how many were dropped before it.
		_, _ = c.Write(all[len(all)-1])
	}
	if w.counts[stream.ReceiverDropped] == 0 {
		t.Fatal("nothing was dropped at a socket of 8 KiB")
	}
	if n := w.counts[stream.ContinuityErrors]; n != 0 {
		t.Errorf("%d continuity errors beside %d datagrams dropped by the reader itself", n, w.counts[stream.ReceiverDropped])
	}
}
