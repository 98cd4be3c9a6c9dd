package rtmp

import (
	"context"
	"errors"
	"math"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

// A publisher that is not ffmpeg: GStreamer's rtmp2sink writes other chunk headers,
// and metadata of its own.
func TestLiveGStreamerPublishes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gst-launch-1.0"); err != nil {
		t.Fatal("no GStreamer: make setup installs it")
	}
	address, _ := nginx(t)
	clip := filepath.Join(t.TempDir(), "clip.flv")
	made := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=320x180:rate=25",
		"-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-sc_threshold", "0", "-threads", "1", "-pix_fmt", "yuv420p", "-t", "5", clip)
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("make a clip: %v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	done := make(chan error)
	sink := &seen{}
	go func() {
		done <- openAt(t, ctx, "rtmp://"+address+"/live/gst", sink, stream.Options{Every: 40 * time.Millisecond})
	}()
	time.Sleep(300 * time.Millisecond)
	run(t, "gst-launch-1.0", "-q", "filesrc", "location="+clip, "!", "flvdemux", "!", "h264parse", "!", "flvmux", "streamable=true",
		"!", "rtmp2sink", "sync=true", "location=rtmp://"+address+"/live/gst")
	var ended *stream.Ended
	if err := <-done; !errors.As(err, &ended) {
		t.Errorf("%v, want the end of the stream", err)
	}
	keys := 0
	for _, f := range sink.frames {
		if f.Key {
			keys++
		}
	}
	n := len(sink.frames)
	if n < 100 || n > 125 || keys < 4 || keys > 5 {
		t.Fatalf("%d frames, %d of them key frames, of 125 and 5", n, keys)
	}
	if fps := float64(n-1) / (float64(sink.frames[n-1].DTS-sink.frames[0].DTS) / 1e9); math.Abs(fps-25) > 0.3 {
		t.Errorf("%.2f fps by DTS, want 25", fps)
	}
	if len(sink.params) == 0 || sink.params[0].Codec != "h264" || sink.params[0].Width != 320 || sink.params[0].Height != 180 {
		t.Errorf("parameters %+v", sink.params)
	}
}
