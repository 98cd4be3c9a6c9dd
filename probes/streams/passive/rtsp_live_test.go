package passive

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/passive/capture"
	"snag/probes/streams/rtsp"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// gst runs GStreamer's RTSP server with a film, and returns its port.
func gst(t *testing.T) uint16 {
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
	server := exec.Command("/usr/bin/python3", "../rtsp/testdata/server.py", film)
	pipe, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		t.Fatal("start GStreamer's RTSP server: ", err)
	}
	n, _ := strconv.ParseUint(strings.TrimSpace(line), 10, 16)
	return uint16(n)
}

// What GStreamer's RTSP server sent over a connection is what snag's own reader at
// its other end saw; from the middle on, without a description, the pictures are.
func TestLiveRTSP(t *testing.T) {
	t.Parallel()
	port := gst(t)
	ring, err := capture.Open(capture.Options{Iface: "lo", Ports: []uint16{port}})
	if err != nil {
		noCapture(t, err)
	}
	defer ring.Close()
	var all []capture.Packet
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- ring.Run(ctx, func(p *capture.Packet) {
			q := *p
			q.Data = slices.Clone(p.Data)
			all = append(all, q)
		})
	}()
	u, err := url.Parse(fmt.Sprintf("rtsp://user:secret@127.0.0.1:%d/cam", port))
	if err != nil {
		t.Fatal(err)
	}
	reader := &seen{params: map[stream.Kind]stream.Params{}}
	reading, leave := context.WithTimeout(context.Background(), 3*time.Second)
	defer leave()
	err = rtsp.Open(reading, u, reader, stream.Options{Now: wire.Monotonic})
	time.Sleep(300 * time.Millisecond)
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(reader.frames) < 80 {
		t.Fatalf("the reader saw %d frames: %v", len(reader.frames), err)
	}
	got := judge(all)
	if len(got.all) != 1 {
		t.Fatalf("%d streams", len(got.all))
	}
	s := got.all[0]
	if s.Side != "consumer" || s.Name != "cam" || s.Middle || strings.Contains(s.URL, "secret") {
		t.Errorf("%+v", s.Conn)
	}
	for _, k := range []stream.Kind{stream.Video, stream.Audio} {
		want, have := only(reader.frames, k), only(s.frames, k)
		if n := sizes(want, have); n < len(want)-10 {
			t.Errorf("%s: the reader saw %d frames, %d of them were seen passively in a row (%d in all)", k, len(want), n, len(have))
		}
	}
	if v := s.params[stream.Video]; v.Codec != "h264" || v.Width != 320 {
		t.Errorf("video %+v", v)
	}
	late := new(streams)
	w := newWatcher(Options{Ports: []uint16{port}}, late.begin)
	for i := range all[len(all)/3:] {
		w.packet(&all[len(all)/3+i])
	}
	w.tcp.Close(w.last)
	if len(late.all) != 1 || !late.all[0].Middle {
		t.Fatalf("from the middle: %d streams", len(late.all))
	}
	want, have := only(s.frames, stream.Video), only(late.all[0].frames, stream.Video)
	if n := sizes(want, have); n < len(want)/3 || n < len(have)-10 {
		t.Errorf("from the middle: %d pictures of %d, %d as they were", len(have), len(want), n)
	}
}

// RTP over UDP goes over ports that only the RTSP connection tells of.
func TestLiveRTSPOverUDP(t *testing.T) {
	t.Parallel()
	port := gst(t)
	var got streams
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, Options{Iface: "lo", Ports: []uint16{port}}, got.begin) }()
	time.Sleep(200 * time.Millisecond)
	u, err := url.Parse(fmt.Sprintf("rtsp+udp://127.0.0.1:%d/cam", port))
	if err != nil {
		t.Fatal(err)
	}
	reader := &seen{params: map[stream.Kind]stream.Params{}}
	reading, leave := context.WithTimeout(context.Background(), 3*time.Second)
	defer leave()
	err = rtsp.Open(reading, u, reader, stream.Options{Now: wire.Monotonic})
	time.Sleep(300 * time.Millisecond)
	stop()
	if err := <-done; err != nil {
		noCapture(t, err)
	}
	if len(reader.frames) < 80 {
		t.Fatalf("the reader saw %d frames: %v", len(reader.frames), err)
	}
	if len(got.all) != 1 || got.all[0].Side != "consumer" || got.all[0].Name != "cam" || got.all[0].Middle {
		t.Fatalf("%d streams: %+v", len(got.all), got.all)
	}
	for _, k := range []stream.Kind{stream.Video, stream.Audio} {
		want, have := only(reader.frames, k), only(got.all[0].frames, k)
		if n := sizes(want, have); n < len(want)-15 {
			t.Errorf("%s: the reader saw %d frames, %d of them were seen passively in a row (%d in all)", k, len(want), n, len(have))
		}
	}
}

// sizes is how many frames of got have the sizes of a run of want.
func sizes(want, got []stream.Frame) (n int) {
	for i := range got {
		for j := range want {
			k := 0
			for i+k < len(got) && j+k < len(want) && got[i+k].Size == want[j+k].Size && got[i+k].Key == want[j+k].Key {
				k++
			}
			n = max(n, k)
		}
	}
	return n
}
