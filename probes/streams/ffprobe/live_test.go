package ffprobe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// taken is a sink that remembers.
type taken struct {
	frames    []stream.Frame
	params    []stream.Params
	notes     []string
	published int64
	enough    int
	done      func()
}

func (s *taken) Published(at int64, _, _ string) { s.published = at }
func (s *taken) Params(p stream.Params)          { s.params = append(s.params, p) }
func (s *taken) Count(stream.Count, uint64)      {}
func (s *taken) Gauge(stream.Gauge, float64)     {}
func (s *taken) Note(text string)                { s.notes = append(s.notes, text) }
func (s *taken) Frame(f stream.Frame) {
	s.frames = append(s.frames, f)
	if s.enough > 0 && len(s.frames) >= s.enough {
		s.done()
	}
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

// ffmpeg sends a transport stream; ffprobe's frames come as they are sent.
func TestUDP(t *testing.T) {
	port := freePort(t)
	film(t, fmt.Sprintf("udp://127.0.0.1:%d?pkt_size=1316", port), fmt.Sprintf("ffprobe+udp://127.0.0.1:%d", port))
}

func TestSRT(t *testing.T) {
	if out, _ := exec.Command("ffprobe", "-v", "quiet", "-protocols").Output(); !strings.Contains(string(out), "srt\n") {
		t.Skip("this ffprobe has no SRT")
	}
	port := freePort(t)
	film(t, fmt.Sprintf("srt://127.0.0.1:%d?mode=listener", port), fmt.Sprintf("srt://127.0.0.1:%d", port))
}

func film(t *testing.T, to, from string) {
	t.Helper()
	if _, err := exec.LookPath("ffprobe"); err != nil {
		t.Fatal("ffprobe is not installed: make setup installs it")
	}
	ffmpeg := exec.Command("ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-f", "lavfi", "-i", "sine=r=48000",
		"-t", "20", "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-g", "25", "-c:a", "aac", "-f", "mpegts", to)
	if err := ffmpeg.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ffmpeg.Process.Kill(); _ = ffmpeg.Wait() })
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	sink := &taken{enough: 250, done: cancel}
	u, err := url.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	asked := wire.Monotonic()
	if err := Open(ctx, u, sink, stream.Options{}); err != nil {
		t.Fatal(err)
	}
	var v, a []stream.Frame
	for _, f := range sink.frames {
		if f.Kind == stream.Video {
			v = append(v, f)
		} else {
			a = append(a, f)
		}
	}
	if len(v) < 70 || len(a) < 90 || len(sink.notes) > 0 {
		t.Fatalf("%d pictures, %d blocks of sound, notes %q", len(v), len(a), sink.notes)
	}
	keys, apart := 0, 0
	for i, f := range v {
		if f.Key {
			keys++
		}
		if i > 0 && f.DTS-v[i-1].DTS != int64(40*time.Millisecond) {
			t.Errorf("step of %s", time.Duration(f.DTS-v[i-1].DTS))
		}
		if i > len(v)/2 && f.Arrival-v[i-1].Arrival > int64(5*time.Millisecond) {
			apart++
		}
	}
	t.Logf("published after %s; %d pictures, %d keys; %d of the second half came apart", time.Duration(sink.published-asked), len(v), keys, apart)
	if keys < len(v)/25 {
		t.Errorf("%d key pictures of %d", keys, len(v))
	}
	// By the line, not in blocks of 4 KiB, of which there are three in this stream.
	if apart < len(v)/10 {
		t.Errorf("%d of %d pictures came apart from the one before", apart, len(v)/2)
	}
	if len(sink.params) != 2 || sink.params[0].Width+sink.params[1].Width != 320 || sink.params[0].SampleRate+sink.params[1].SampleRate != 48000 {
		t.Errorf("%+v", sink.params)
	}
}

func TestErrors(t *testing.T) {
	if _, err := exec.LookPath("ffprobe"); err != nil {
		t.Fatal("ffprobe is not installed: make setup installs it")
	}
	u, _ := url.Parse("ffprobe+tcp://joe:geheim@127.0.0.1:1?passphrase=secret")
	err := Open(context.Background(), u, &taken{}, stream.Options{})
	if err == nil || !strings.Contains(err.Error(), "Connection refused") || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v", err)
	}
	// One that never says anything is ended, by its pid.
	u, _ = url.Parse(fmt.Sprintf("ffprobe+udp://127.0.0.1:%d", freePort(t)))
	asked := time.Now()
	err = Open(context.Background(), u, &taken{}, stream.Options{Timeout: 200 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "saw no packet within 2.2s") || time.Since(asked) > 6*time.Second {
		t.Errorf("%v after %s", err, time.Since(asked))
	}
	t.Setenv("PATH", t.TempDir())
	err = Open(context.Background(), u, &taken{}, stream.Options{})
	if err == nil || !strings.Contains(err.Error(), "apt-get install ffmpeg") {
		t.Errorf("%v", err)
	}
	var ended *stream.Ended
	if errors.As(err, &ended) {
		t.Error("one that was never there has not ended")
	}
	if _, err := os.Stat("/dev/ptmx"); err != nil {
		t.Log("this machine has no /dev/ptmx")
	}
}
