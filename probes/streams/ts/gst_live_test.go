package ts

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// MPEG-TS from others than Debian's ffmpeg: GStreamer's mpegtsmux, and HEVC.
func TestLiveOtherSenders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, video string
		send        func(t *testing.T, port int)
	}{
		{"GStreamer, H.264", "h264 192 128", func(t *testing.T, port int) {
			counterpart.GStreamer(t, counterpart.GStreamerH264, fmt.Sprintf("mpegtsmux name=m alignment=7 ! udpsink host=127.0.0.1 port=%d sync=false", port))
		}},
		{"GStreamer, HEVC", "hevc 192 128", func(t *testing.T, port int) {
			counterpart.GStreamer(t, counterpart.GStreamerHEVC, fmt.Sprintf("mpegtsmux name=m alignment=7 ! udpsink host=127.0.0.1 port=%d sync=false", port))
		}},
		{"ffmpeg 8, HEVC", "hevc 192 128", func(t *testing.T, port int) {
			counterpart.Run(t, counterpart.FFmpeg(t), "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=192x128:rate=25", "-f", "lavfi", "-i", "sine=sample_rate=48000",
				"-pix_fmt", "yuv420p", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:pools=1:frame-threads=1:bframes=2:keyint=25:min-keyint=25:scenecut=0",
				"-c:a", "aac", "-ac", "2", "-f", "mpegts", fmt.Sprintf("udp://127.0.0.1:%d?pkt_size=1316", port))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			port := counterpart.Port(t)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			var w watched
			done := make(chan error, 1)
			go func() {
				done <- Open(ctx, parsed(t, fmt.Sprintf("udp://127.0.0.1:%d", port)), &w, stream.Options{Now: monotonic, Timeout: 10 * time.Second})
			}()
			c.send(t, port)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			n, keys := w.of(stream.Video)
			sounds, _ := w.of(stream.Audio)
			if n < 25 || keys < 1 || keys > n/25+1 || sounds < n {
				t.Fatalf("%d pictures, %d of them key; %d frames of audio", n, keys, sounds)
			}
			if told := fmt.Sprint(w.params); !strings.Contains(told, c.video) || !strings.Contains(told, "aac 0 0 0 48000 2") {
				t.Errorf("%s", told)
			}
			if w.counts[stream.ContinuityErrors] != 0 || w.counts[stream.Discontinuities] != 0 {
				t.Errorf("counts %v", w.counts)
			}
		})
	}
}
