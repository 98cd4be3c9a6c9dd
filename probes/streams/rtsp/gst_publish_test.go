package rtsp

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// GStreamer's rtspclientsink publishes H.264 and HEVC here: another ANNOUNCE than
// ffmpeg's, and RTP heads of its own.
func TestGStreamerPublishes(t *testing.T) {
	for codec, encode := range map[string]string{"h264": counterpart.GStreamerH264, "hevc": counterpart.GStreamerHEVC} {
		t.Run(codec, func(t *testing.T) {
			t.Parallel()
			port := counterpart.Port(t)
			ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
			defer cancel()
			sink := &taken{done: cancel, enough: func(s *taken) bool { return len(s.frames) >= 180 }}
			u, err := url.Parse(fmt.Sprintf("rtsp-listen://127.0.0.1:%d/cam", port))
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- Listen(ctx, u, sink, stream.Options{Timeout: 15 * time.Second}) }()
			counterpart.Await(t, fmt.Sprintf("127.0.0.1:%d", port))
			counterpart.GStreamer(t, encode, fmt.Sprintf("rtspclientsink name=m protocols=tcp location=rtsp://127.0.0.1:%d/cam", port))
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			v, a := sink.of(stream.Video), sink.of(stream.Audio)
			keys := 0
			for _, f := range v {
				if f.Key {
					keys++
				}
			}
			if len(v) < 40 || len(a) < 80 || keys < 2 || keys > len(v)/25+1 || sink.counts != [stream.Counts]uint64{} {
				t.Fatalf("%d pictures, %d of them key pictures, %d blocks of sound, counts %v", len(v), keys, len(a), sink.counts)
			}
			if fps := float64(len(v)-1) * 1e9 / float64(v[len(v)-1].DTS-v[0].DTS); math.Abs(fps-25) > 1 {
				t.Errorf("%.2f fps by DTS, want 25", fps)
			}
			told := map[stream.Kind]stream.Params{}
			for _, p := range sink.params {
				told[p.Kind] = p
			}
			if p := told[stream.Video]; p.Codec != codec || p.Width != 192 || p.Height != 128 {
				t.Errorf("video is %+v", p)
			}
			if p := told[stream.Audio]; p.Codec != "aac" || p.SampleRate != 48000 || p.Channels != 2 {
				t.Errorf("audio is %+v", p)
			}
		})
	}
}
