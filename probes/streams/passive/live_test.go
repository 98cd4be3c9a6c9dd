package passive

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"snag/probes/streams/passive/capture"
	"snag/probes/streams/stream"
)

var update = flag.Bool("update", false, "write testdata/nginx.pcap and what ffprobe saw")

// serveRTMP runs nginx-rtmp on a free port of the loopback interface.
func serveRTMP(t *testing.T) (port uint16) {
	t.Helper()
	const module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
	if _, err := os.Stat(module); err != nil {
		t.Fatalf("nginx-rtmp is not installed: %v: make setup installs it", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port = uint16(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	dir := t.TempDir()
	conf := fmt.Sprintf(`load_module %s;
user root; daemon off; master_process off; pid %[2]s/pid; error_log %[2]s/error.log;
events {}
rtmp { server { listen 127.0.0.1:%[3]d; application live { live on; } } }
`, module, dir, port)
	name := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(name, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, "nginx", "-p", dir, "-c", name)
	for range 100 {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			c.Close()
			return port
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("nginx does not listen")
	return 0
}

// start runs a program until the test ends.
func start(t *testing.T, name string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	c := exec.Command(name, args...)
	out := new(bytes.Buffer)
	c.Stdout = out
	if err := c.Start(); err != nil {
		t.Fatalf("%s: %v: make setup installs it", name, err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c, out
}

// What a publisher sent and a reader was sent is what the reader's own ffprobe saw,
// frame by frame.
func TestLive(t *testing.T) {
	t.Parallel()
	port := serveRTMP(t)
	ring, err := capture.Open(capture.Options{Iface: "lo", Ports: []uint16{port}})
	if err != nil {
		noCapture(t, err)
	}
	defer ring.Close()
	var file bytes.Buffer
	pcap := pcapgo.NewWriterNanos(&file)
	if err := pcap.WriteFileHeader(1<<20, layers.LinkTypeRaw); err != nil {
		t.Fatal(err)
	}
	var got streams
	w := newWatcher(Options{Ports: []uint16{port}}, got.begin)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- ring.Run(ctx, func(p *capture.Packet) {
			w.packet(p)
			ci := gopacket.CaptureInfo{Timestamp: time.Unix(0, p.At), CaptureLength: len(p.Data), Length: p.Wire}
			if err := pcap.WritePacket(ci, p.Data); err != nil {
				t.Error(err)
			}
		})
	}()
	url := fmt.Sprintf("rtmp://127.0.0.1:%d/live/cam1", port)
	reader, packets := start(t, "ffprobe", "-v", "error", "-show_packets", "-show_entries", "packet=codec_type,dts,pts,size,flags", "-of", "compact", url+"?key=secret")
	publisher, _ := start(t, "ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25",
		"-f", "lavfi", "-i", "sine", "-t", "4.5", "-c:v", "libx264", "-preset", "veryfast", "-b:v", "70k", "-g", "25", "-bf", "2",
		"-c:a", "aac", "-b:a", "24k", "-f", "flv", url+"?token=hidden")
	if err := publisher.Wait(); err != nil {
		t.Fatal("ffmpeg: ", err)
	}
	ended := make(chan struct{})
	go func() { _ = reader.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(time.Second):
		_ = reader.Process.Kill()
		<-ended
	}
	time.Sleep(300 * time.Millisecond)
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.tcp.Close(w.last)
	if st := ring.Stats(); st.Packets == 0 || st.Dropped > 0 {
		t.Logf("capture: %+v", st)
	}
	if *update {
		for name, b := range map[string][]byte{"nginx.pcap": file.Bytes(), "nginx.packets": packets.Bytes()} {
			if err := os.WriteFile(filepath.Join("testdata", name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if now := time.Now().UnixNano(); len(got.all) > 0 && len(got.all[0].frames) > 0 && got.all[0].frames[0].Arrival > now/2 {
		t.Error("arrivals are not on the monotonic clock")
	}
	got.check(t, probed(t, packets.String()))
}

// check wants one publisher and one consumer, and of both the frames that ffprobe
// saw.
func (s *streams) check(t *testing.T, want []stream.Frame) {
	t.Helper()
	if len(want) < 100 {
		t.Fatalf("ffprobe saw %d frames", len(want))
	}
	sides := map[string]*seen{}
	for _, x := range s.all {
		sides[x.Side] = x
		if x.Name != "live/cam1" || !x.Named || x.Middle {
			t.Errorf("%s: name %q, named %v, middle %v", x.Side, x.Name, x.Named, x.Middle)
		}
		if strings.Contains(fmt.Sprintf("%+v", x.Conn), "hidden") || strings.Contains(fmt.Sprintf("%+v", x.Conn), "secret") {
			t.Errorf("a query's value is shown: %+v", x.Conn)
		}
		if v := x.params[stream.Video]; v.Codec != "h264" || v.Width != 160 || v.Height != 90 {
			t.Errorf("%s: video %+v", x.Side, v)
		}
		if a := x.params[stream.Audio]; a.Codec != "aac" || a.SampleRate != 44100 {
			t.Errorf("%s: audio %+v", x.Side, a)
		}
	}
	if len(s.all) != 2 || sides["publisher"] == nil || sides["consumer"] == nil {
		t.Fatalf("%d streams: %+v", len(s.all), s.all)
	}
	for _, side := range sides {
		for _, kind := range []stream.Kind{stream.Video, stream.Audio} {
			want, got := only(want, kind), only(side.frames, kind)
			if n := run(want, got); n < len(want)-5 && side.Side == "publisher" || side.Side == "consumer" && n < len(want) {
				t.Errorf("%s, %s: ffprobe saw %d frames, %d of them were seen passively in a row (%d in all)", side.Side, kind, len(want), n, len(got))
			}
		}
	}
	sent, got := only(sides["publisher"].frames, stream.Video), only(sides["consumer"].frames, stream.Video)
	if n := run(sent, got); n < len(got)-5 || slices.ContainsFunc(got, func(f stream.Frame) bool { return f.Mark == 0 }) {
		t.Errorf("of %d pictures %d in a row have the publisher's marks", len(got), n)
	}
}

// noCapture ends a test for which nothing could be captured: only who may not
// (CAP_NET_RAW) skips it.
func noCapture(t *testing.T, err error) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Fatal(err)
	}
	t.Skip("capturing needs root: ", err)
}
