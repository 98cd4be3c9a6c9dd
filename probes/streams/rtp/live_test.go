package rtp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// relay passes datagrams on, and once somebody receives does to RTP what it counts.
type relay struct {
	ready   atomic.Bool
	mu      sync.Mutex
	in      *net.UDPConn
	out     net.Conn
	n       int
	held    []byte
	dropped uint64
	swapped uint64
	doubled uint64
}

func (r *relay) run(change bool) {
	buf := make([]byte, 9000)
	for {
		n, err := r.in.Read(buf)
		if err != nil {
			return
		}
		b := append([]byte(nil), buf[:n]...)
		if change && r.ready.Load() {
			r.change(b)
		} else {
			_, _ = r.out.Write(b)
		}
	}
}

func (r *relay) change(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	switch r.n % 50 {
	case 10:
		r.dropped++
		return
	case 20:
		r.doubled++
		_, _ = r.out.Write(b)
	case 30:
		r.held = b
		return
	case 31:
		_, _ = r.out.Write(b)
		b = r.held
		r.swapped++
	}
	_, _ = r.out.Write(b)
}

func udp(t *testing.T, port int) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// freePair finds an even port with its neighbour free, below those that the kernel gives to who asks
// for none (ip_local_port_range): the relay's own sockets took one of the reader's.
func freePair(t *testing.T) int {
	t.Helper()
	for range 50 {
		port := 20000 + 2*rand.IntN(5000)
		c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err != nil {
			continue
		}
		d, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port + 1})
		_ = c.Close()
		if err != nil {
			continue
		}
		_ = d.Close()
		return port
	}
	t.Fatal("find two free ports")
	return 0
}

// ffmpeg sends a film over RTP through a relay that loses, swaps and doubles
// packets of the video: each is counted exactly, and ffmpeg's goodbye ends it.
func TestFFmpegThroughARelay(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Fatal("ffmpeg is not installed: make setup installs it")
	}
	dir := t.TempDir()
	var to, from [2]int
	var video *relay
	for i := range to {
		to[i], from[i] = freePair(t), freePair(t)
		for off := range 2 {
			out, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", to[i]+off))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = out.Close() })
			r := &relay{in: udp(t, from[i]+off), out: out}
			if i == 0 && off == 0 {
				video = r
			}
			go r.run(i == 0 && off == 0)
		}
	}
	sdp := filepath.Join(dir, "film.sdp")
	ffmpeg := exec.Command("ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-f", "lavfi", "-i", "sine=r=48000",
		"-t", "5", "-map", "0", "-c:v", "libx264", "-preset", "veryfast", "-g", "25", "-bf", "2", "-b:v", "1M", "-rtpflags", "send_bye", "-f", "rtp", fmt.Sprintf("rtp://127.0.0.1:%d?pkt_size=600", from[0]),
		"-t", "5", "-map", "1", "-c:a", "libopus", "-rtpflags", "send_bye", "-f", "rtp", fmt.Sprintf("rtp://127.0.0.1:%d", from[1]), "-sdp_file", sdp)
	var said strings.Builder
	ffmpeg.Stderr = &said
	if err := ffmpeg.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ffmpeg.Process.Kill(); _ = ffmpeg.Wait() })
	var text []byte
	for deadline := time.Now().Add(5 * time.Second); len(text) < 100; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("ffmpeg wrote no SDP: %s", said.String())
		}
		text, _ = os.ReadFile(sdp)
	}
	for i := range to {
		text = regexp.MustCompile(fmt.Sprintf(`m=(\w+) %d `, from[i])).ReplaceAll(text, fmt.Appendf(nil, "m=$1 %d ", to[i]))
	}
	if err := os.WriteFile(sdp, text, 0o600); err != nil {
		t.Fatal(err)
	}
	sink := &taken{published: func() { video.ready.Store(true) }}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	err := Open(ctx, &url.URL{Scheme: "sdp", Path: sdp}, sink, stream.Options{Now: wire.Monotonic})
	var ended *stream.Ended
	if !errors.As(err, &ended) || !strings.Contains(err.Error(), "goodbye") {
		t.Errorf("error %v; ffmpeg: %s", err, said.String())
	}
	video.mu.Lock()
	defer video.mu.Unlock()
	if video.n%50 == 10 {
		video.dropped-- // the last one: nothing came after it to tell
	}
	c := sink.counts
	t.Logf("of %d packets %d lost, %d swapped, %d doubled; counts %v; %d video, %d audio; jitter %v", video.n, video.dropped, video.swapped, video.doubled, c, len(sink.of(stream.Video)), len(sink.of(stream.Audio)), sink.jitter)
	if video.dropped < 3 || c[stream.PacketsLost] != video.dropped || c[stream.PacketsReordered] != video.swapped || c[stream.PacketsDuplicate] != video.doubled || c[stream.PacketsLate] != 0 {
		t.Errorf("of %d packets %d were lost, %d swapped, %d doubled; counted %v", video.n, video.dropped, video.swapped, video.doubled, c)
	}
	v, a := sink.of(stream.Video), sink.of(stream.Audio)
	// The reader began a little after ffmpeg did.
	if len(v) < 60 || len(v) > 125 || len(a) < 120 || len(a) > 251 {
		t.Fatalf("%d pictures, %d sounds", len(v), len(a))
	}
	for i := 1; i < len(v); i++ {
		if d := v[i].DTS - v[i-1].DTS; d < 0 || v[i].Arrival < v[i-1].Arrival {
			t.Fatalf("step of %s at picture %d", time.Duration(d), i)
		}
	}
	if skew := time.Duration(a[len(a)-1].DTS - v[len(v)-1].DTS); skew.Abs() > 400*time.Millisecond {
		t.Errorf("skew of %s after the reports", skew)
	}
	var p stream.Params
	for _, x := range sink.params {
		if x.Kind == stream.Video {
			p = x
		}
	}
	if p.Codec != "h264" || p.Width != 320 || p.FPS != 25 || !strings.Contains(sink.local, fmt.Sprint(to[0])) && !strings.Contains(sink.local, fmt.Sprint(to[1])) {
		t.Errorf("%+v at %s", p, sink.local)
	}
}

func TestOpenErrors(t *testing.T) {
	taken := udp(t, 0).LocalAddr().String()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const head = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\n"
	for in, want := range map[string]string{
		"rtp://127.0.0.1:5004":                   "give the sender's SDP",
		"rtp://127.0.0.1:5004?codec=X":           "X is not known",
		"rtp://127.0.0.1:5004?codec=H264&pt=300": "pt=300",
		"rtp://" + taken + "?codec=H264":         "address already in use",
		"rtp://127.0.0.1?codec=H264":             `port ""`,
		"sdp:///nowhere.sdp":                     "no such file",
		"sdp://" + write("a.sdp", "GIF89a"):      "session description",
		"sdp://" + write("b.sdp", head+"m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"):      "gives no port",
		"sdp://" + write("c.sdp", head+"m=video 9000 RTP/AVP 96\r\na=rtpmap:96 X-SVAC/90000\r\n"): "X-SVAC is not known",
		fmt.Sprintf("rtp://127.0.0.1:%d?codec=H264", freePair(t)):                                 "no RTP packet came",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		err = Open(context.Background(), u, nothing{}, stream.Options{Timeout: 200 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", in, err, want)
		}
	}
}

func FuzzSDP(f *testing.F) {
	f.Add([]byte("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 224.0.0.1/3\r\nt=0 0\r\na=control:*\r\nm=video 5004 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 sprop-parameter-sets=Z0LAHtoCgL/lwFqAgICgAAADACAAAAZR4sXU,aM4PyA==\r\na=rtcp:5010\r\nm=audio 0 RTP/AVP 97\r\na=rtpmap:97 mpeg4-generic/44100/2\r\na=fmtp:97 config=1210;sizelength=13;indexlength=3;indexdeltalength=3\r\n"))
	f.Add([]byte("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=audio 1 RTP/AVP 97\r\na=rtpmap:97 MP4A-LATM/44100\r\na=fmtp:97 cpresent=0;config=40002420adca1fe0\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseSDP(b)
		if err != nil {
			return
		}
		if len(d.Media) == 0 || len(d.Media) > 2 {
			t.Fatalf("%d media", len(d.Media))
		}
		s := NewSession(d.Formats(), nothing{})
		for i, m := range d.Media {
			if m.Rate == 0 || m.Codec == "" {
				t.Fatalf("%+v", m)
			}
			s.RTP(i, 1, packet(m.PayloadType, 1, 1, 1, true, b[:min(len(b), 200)]...))
		}
		s.End()
	})
}
