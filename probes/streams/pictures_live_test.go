package streams

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/streams/picture"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// album is a stream.Keys that takes two key pictures.
type album struct {
	left atomic.Int32
	got  chan coded
}

type coded struct {
	codec string
	b     []byte
}

func (a *album) Wanted() bool { return a.left.Load() > 0 }
func (a *album) Key(codec string, b []byte, _ int64) {
	if a.left.Add(-1) >= 0 {
		a.got <- coded{codec, b}
	}
}

// scene is a film whose pictures are all the same, and each of four slices in H.264.
const scene = "color=size=320x180:rate=10,geq=lum='30+floor(X/40)*18+floor(Y/30)*9':cb=128:cr=128"

var encoders = map[string][]string{
	"h264": {"-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-slices", "4"},
	"hevc": {"-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:pools=1:frame-threads=1:keyint=10:min-keyint=10"},
}

// filming is ffmpeg that makes the scene, a key picture each second.
func filming(codec string, out ...string) []string {
	argv := append([]string{"ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i", scene, "-pix_fmt", "yuv420p"}, encoders[codec]...)
	return append(append(argv, "-g", "10", "-threads", "1", "-t", "40"), out...)
}

// Key pictures of every protocol come whole to whoever wants them, and are what was filmed.
func TestKeyPicturesOfEveryProtocol(t *testing.T) {
	server := startOrigin(t)
	dir := t.TempDir()
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(web.Close)
	in := func(name string) string { return filepath.Join(dir, name) }
	want := map[string]picture.Picture{}
	for codec := range encoders {
		b, err := exec.Command("ffmpeg", append(append([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", scene, "-pix_fmt", "yuv420p"}, encoders[codec]...), "-frames:v", "1", "-f", codec, "-")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		if want[codec], err = picture.Decode(context.Background(), codec, b); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, codec string
		begin       func(o *origin, codec string) string // gives the URL
	}{
		{"RTMP", "h264", func(o *origin, codec string) string {
			o.run(filming(codec, "-f", "flv", o.url("cam"))...)
			return o.url("cam")
		}},
		{"RTSP of GStreamer", "h264", func(o *origin, _ string) string { return gstreamer(o.t, in("gst.mp4")) }},
		{"RTSP published by ffmpeg", "hevc", func(o *origin, codec string) string {
			at := free(o.t)
			time.AfterFunc(time.Second, func() { o.run(filming(codec, "-f", "rtsp", "-rtsp_transport", "tcp", "rtsp://"+at+"/cam")...) })
			return "rtsp-listen://" + at + "/cam"
		}},
		{"RTP, parameter sets in the SDP", "h264", rtpOf(in("h264.sdp"))},
		{"RTP, parameter sets in the SDP", "hevc", rtpOf(in("hevc.sdp"))},
		{"MPEG-TS", "hevc", func(o *origin, codec string) string {
			at := "udp://" + free(o.t)
			o.run(filming(codec, "-f", "mpegts", at+"?pkt_size=1316")...)
			return at
		}},
		{"GB28181", "h264", programOf(in("h264.fifo"))},
		{"GB28181", "hevc", programOf(in("hevc.fifo"))},
		{"HLS of MPEG-TS", "h264", hlsOf(web.URL, in("ts"))},
		{"HLS of fragmented MP4", "h264", hlsOf(web.URL, in("mp4"), "-hls_segment_type", "fmp4")},
		{"HLS of fragmented MP4", "hevc", hlsOf(web.URL, in("hvc1"), "-hls_segment_type", "fmp4", "-tag:v", "hvc1")},
	} {
		t.Run(c.name+" "+c.codec, func(t *testing.T) {
			u, err := url.Parse(c.begin(&origin{t, server.rtmp, server.http}, c.codec)) // what it runs ends with the test

			if err != nil {
				t.Fatal(err)
			}
			open, err := Open(u)
			if err != nil {
				t.Fatal(err)
			}
			keys := &album{got: make(chan coded, 2)}
			keys.left.Store(2)
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			var last atomic.Value
			go func() {
				for ctx.Err() == nil { // it may not be there yet
					if err := open(ctx, u, nobody{}, stream.Options{Now: wire.Monotonic, Keys: keys, Every: 20 * time.Millisecond}); err != nil {
						last.Store(err.Error())
					}
					time.Sleep(200 * time.Millisecond)
				}
			}()
			for range 2 {
				select {
				case k := <-keys.got:
					p, err := picture.Decode(ctx, k.codec, k.b)
					if err != nil || k.codec != c.codec || p.Garbled || !picture.Alike(p.Grey, want[c.codec].Grey) {
						t.Errorf("%s of %d bytes: %v, garbled %v", k.codec, len(k.b), err, p.Garbled)
					}
				case <-ctx.Done():
					t.Fatalf("no key picture of %s: %v", u, last.Load())
				}
			}
		})
	}
}

func rtpOf(sdp string) func(*origin, string) string {
	return func(o *origin, codec string) string {
		o.run(filming(codec, "-flags", "+global_header", "-f", "rtp", "-sdp_file", sdp, "rtp://"+evenPort(o.t)+"?pkt_size=1200")...)
		o.await("the SDP is written", func() bool { b, err := os.ReadFile(sdp); return err == nil && len(b) > 100 })
		return "sdp://" + sdp
	}
}

// evenPort is the first of a pair of ports, as RTP and RTCP have them.
func evenPort(t *testing.T) string {
	t.Helper()
	host, port, err := net.SplitHostPort(free(t))
	n, err2 := strconv.Atoi(port)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	return net.JoinHostPort(host, strconv.Itoa(n&^1))
}

func hlsOf(base, dir string, more ...string) func(*origin, string) string {
	return func(o *origin, codec string) string {
		if err := os.Mkdir(dir, 0o755); err != nil {
			o.t.Fatal(err)
		}
		o.run(filming(codec, append(append([]string{"-f", "hls", "-hls_time", "1", "-hls_list_size", "5"}, more...), filepath.Join(dir, "out.m3u8"))...)...)
		o.await("the playlist is written", func() bool { _, err := os.Stat(filepath.Join(dir, "out.m3u8")); return err == nil })
		return base + "/" + filepath.Base(dir) + "/out.m3u8"
	}
}

// programOf sends ffmpeg's program stream as a device of GB/T 28181 does, over UDP.
func programOf(fifo string) func(*origin, string) string {
	return func(o *origin, codec string) string {
		t := o.t
		if err := exec.Command("mkfifo", fifo).Run(); err != nil {
			t.Fatal(err)
		}
		at := free(t)
		o.run(filming(codec, "-y", "-f", "vob", fifo)...)
		from, err := os.Open(fifo)
		if err != nil {
			t.Fatal(err)
		}
		to, err := net.Dial("udp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { from.Close(); to.Close() })
		go func() {
			packet := append([]byte{0x80, 96}, make([]byte, 1410)...)
			for seq := uint16(0); ; seq++ {
				n, err := from.Read(packet[12:])
				if err != nil {
					return
				}
				packet[2], packet[3] = byte(seq>>8), byte(seq)
				_, _ = to.Write(packet[:12+n]) // nobody may listen yet
			}
		}()
		return "ps+udp://" + at
	}
}

// gstreamer serves the scene, with a tone, by GStreamer's RTSP server.
func gstreamer(t *testing.T, path string) string {
	t.Helper()
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import gi; gi.require_version('GstRtspServer', '1.0')").Run() != nil {
		t.Skip("GStreamer's RTSP server is not installed: make setup installs it")
	}
	argv := append([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", scene, "-f", "lavfi", "-i", "sine=r=44100", "-pix_fmt", "yuv420p"}, encoders["h264"]...)
	if said, err := exec.Command("ffmpeg", append(argv, "-g", "10", "-t", "20", "-c:a", "aac", path)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	server := exec.Command(python, "rtsp/testdata/server.py", path)
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "rtsp://127.0.0.1:" + strings.TrimSpace(port) + "/cam"
}

// nobody is a sink that keeps nothing.
type nobody struct{}

func (nobody) Published(int64, string, string) {}
func (nobody) Frame(stream.Frame)              {}
func (nobody) Params(stream.Params)            {}
func (nobody) Count(stream.Count, uint64)      {}
func (nobody) Gauge(stream.Gauge, float64)     {}
