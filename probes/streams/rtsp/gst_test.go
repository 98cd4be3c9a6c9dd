package rtsp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// gst starts GStreamer's RTSP server (tools/setup.sh installs it) with a film of
// 25 pictures per second with two B-pictures between others, and a tone; it returns
// host:port.
func gst(t *testing.T, args ...string) string {
	t.Helper()
	if exec.Command("/usr/bin/python3", "-c", "import gi; gi.require_version('GstRtspServer', '1.0')").Run() != nil {
		t.Fatal("GStreamer's RTSP server is not installed: make setup installs it")
	}
	film := filepath.Join(t.TempDir(), "film.mp4")
	out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-f", "lavfi", "-i", "sine=r=44100",
		"-t", "20", "-c:v", "libx264", "-preset", "veryfast", "-g", "25", "-bf", "2", "-c:a", "aac", film).CombinedOutput()
	if err != nil {
		t.Fatalf("make a film: %v: %s", err, out)
	}
	server := exec.Command("/usr/bin/python3", append([]string{"testdata/server.py", film}, args...)...)
	pipe, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	port, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		t.Fatalf("start GStreamer's RTSP server: %v: %s", err, said.String())
	}
	return "127.0.0.1:" + strings.TrimSpace(port)
}

// watch reads a URL until enough frames came.
func watch(t *testing.T, text string, pictures int) (*taken, error) {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	sink := &taken{done: cancel, enough: func(s *taken) bool { return len(s.of(stream.Video)) >= pictures }}
	err = Open(ctx, u, sink, stream.Options{Now: wire.Monotonic})
	return sink, err
}

func (s *taken) of(k stream.Kind) (out []stream.Frame) {
	for _, f := range s.frames {
		if f.Kind == k {
			out = append(out, f)
		}
	}
	return out
}

// A real server, over TCP and over UDP: all that it sends is seen.
func TestGStreamer(t *testing.T) {
	addr := gst(t)
	for _, scheme := range []string{"rtsp", "rtsp+udp"} {
		t.Run(scheme, func(t *testing.T) {
			asked := time.Now()
			sink, err := watch(t, scheme+"://"+addr+"/cam", 55)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("55 pictures in %s, %v, notes %q", time.Since(asked), sink.counts, sink.notes)
			film(t, sink)
		})
	}
}

// film checks that what was seen is the film.
func film(t *testing.T, sink *taken) {
	t.Helper()
	v, a := sink.of(stream.Video), sink.of(stream.Audio)
	if len(sink.notes) > 0 || sink.counts[stream.PacketsLost] > 0 {
		t.Errorf("notes %q, counts %v", sink.notes, sink.counts)
	}
	keys := 0
	for i, f := range v {
		if f.Key {
			keys++
		}
		if i > 0 && f.DTS-v[i-1].DTS != int64(40*time.Millisecond) {
			// The file's clock of 12800 Hz makes ticks of 90 kHz uneven by one.
			if d := time.Duration(f.DTS - v[i-1].DTS); (d - 40*time.Millisecond).Abs() > 50*time.Microsecond {
				t.Fatalf("step of %s at picture %d", d, i)
			}
		}
		if f.DTS > f.PTS || f.Size < 10 {
			t.Fatalf("picture %d: %+v", i, f)
		}
	}
	if keys < len(v)/25 || keys > len(v)/25+1 || !v[0].Key {
		t.Errorf("%d key pictures of %d", keys, len(v))
	}
	var sizes int
	for _, f := range a {
		sizes += f.Size
	}
	// 44100/1024 units per second.
	seconds := float64(v[len(v)-1].DTS-v[0].DTS) / 1e9
	if rate := float64(len(a)) / seconds; rate < 43.07*0.8 || rate > 43.07*1.2 || sizes < 50*len(a) {
		t.Errorf("%d blocks of sound in %.1f s, %d bytes", len(a), seconds, sizes)
	}
	// Both began at 0.
	if skew := time.Duration(a[len(a)-1].DTS - v[len(v)-1].PTS); skew.Abs() > 500*time.Millisecond {
		t.Errorf("skew %s", skew)
	}
	// How fast it came: the media's pace but for the server's first burst; a busy
	// machine is slower.
	wall := float64(v[len(v)-1].Arrival-v[0].Arrival) / 1e9
	if wall < seconds*0.5 || wall > seconds*5 {
		t.Errorf("%.1f s of media in %.1f s", seconds, wall)
	}
	p := map[string]stream.Params{}
	for _, x := range sink.params {
		p[x.Codec] = x
	}
	if h := p["h264"]; h.Width != 320 || h.Height != 240 || h.FPS != 25 {
		t.Errorf("%+v", h)
	}
	if h := p["aac"]; h.SampleRate != 44100 || h.Channels != 1 {
		t.Errorf("%+v", h)
	}
}

// MPEG-TS in RTP (RFC 2250), as IPTV heads, SAT>IP and media servers give it: what is
// in it is the same film.
func TestGStreamerTransportStream(t *testing.T) {
	addr := gst(t)
	for _, scheme := range []string{"rtsp", "rtsp+udp"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			sink, err := watch(t, scheme+"://"+addr+"/ts", 55)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d pictures, %d blocks of sound, %v, notes %q", len(sink.of(stream.Video)), len(sink.of(stream.Audio)), sink.counts, sink.notes)
			film(t, sink)
		})
	}
}

// tlsFront reads a real server over RTSPS through a TLS front that has a certificate.
func tlsFront(t *testing.T, cert tls.Certificate) {
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	both := filepath.Join(t.TempDir(), "front.pem")
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})...)
	if err := os.WriteFile(both, text, 0o600); err != nil {
		t.Fatal(err)
	}
	sink, err := watch(t, "rtsps://"+counterpart.Stunnel(t, gst(t), both)+"/cam", 30)
	if err != nil {
		t.Fatal(err)
	}
	film(t, sink)
}

func TestGStreamerAuth(t *testing.T) {
	addr := gst(t, "joe", "secret")
	if sink, err := watch(t, "rtsp://joe:secret@"+addr+"/cam", 10); err != nil || len(sink.of(stream.Video)) < 10 {
		t.Errorf("with the password: %v", err)
	}
	for text, want := range map[string]string{
		"rtsp://joe:wrong@" + addr + "/cam":      "with the URL's user and password",
		"rtsp://" + addr + "/cam":                "it wants a user and password",
		"rtsp://joe:secret@" + addr + "/another": "404",
	} {
		_, err := watch(t, text, 10)
		var r *stream.Refused
		if !errors.As(err, &r) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
