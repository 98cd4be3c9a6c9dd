package ffprobe

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// SRT from another than ffmpeg: GStreamer's srtsink, as a listener and with a
// passphrase.
func TestGStreamerSRT(t *testing.T) {
	if out, _ := exec.Command("ffprobe", "-v", "quiet", "-protocols").Output(); !strings.Contains(string(out), "srt\n") {
		t.Skip("this ffprobe has no SRT")
	}
	port := counterpart.Port(t)
	counterpart.GStreamer(t, counterpart.GStreamerH264, fmt.Sprintf("mpegtsmux name=m alignment=7 ! srtsink wait-for-connection=false uri=srt://127.0.0.1:%d?mode=listener&passphrase=0123456789", port))
	u, err := url.Parse(fmt.Sprintf("srt://127.0.0.1:%d?passphrase=0123456789", port))
	if err != nil {
		t.Fatal(err)
	}
	var sink *taken
	for range 3 { // it listens a moment after it starts
		ctx, cancel := context.WithTimeout(context.Background(), 12*time.Second)
		sink = &taken{enough: 150, done: cancel}
		err = Open(ctx, u, sink, stream.Options{Timeout: 5 * time.Second})
		cancel()
		if len(sink.frames) > 0 {
			break
		}
		time.Sleep(time.Second)
	}
	keys, pictures := 0, 0
	for _, f := range sink.frames {
		if f.Kind == stream.Video {
			if pictures++; f.Key {
				keys++
			}
		}
	}
	if pictures < 30 || keys < 1 || keys > pictures/25+1 || len(sink.frames)-pictures < pictures {
		t.Fatalf("%d pictures, %d of them key pictures, of %d frames; notes %q; %v", pictures, keys, len(sink.frames), sink.notes, err)
	}
	if told := fmt.Sprint(sink.params); !strings.Contains(told, "h264 192 128") || !strings.Contains(told, "aac 0 0 0 48000 2") {
		t.Errorf("%s", told)
	}
}
