package rtsp

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// What ffmpeg 8 packs in RTP, beside the H.264 and AAC of the other tests: it
// publishes two seconds of each.
func TestFFmpegPublishesOtherCodecs(t *testing.T) {
	ffmpeg := counterpart.FFmpeg(t)
	for _, c := range []struct {
		name   string
		encode []string
		video  stream.Params
		audio  stream.Params
		keys   int // one of so many pictures is a key picture
	}{
		{"hevc and opus", []string{"-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:pools=1:frame-threads=1:bframes=2:keyint=25:min-keyint=25:scenecut=0", "-c:a", "libopus"},
			stream.Params{Codec: "hevc", Width: 192, Height: 128, FPS: 25}, stream.Params{Codec: "opus", SampleRate: 48000, Channels: 2}, 25},
		{"av1 and mp3", []string{"-c:v", "libsvtav1", "-preset", "12", "-g", "25", "-svtav1-params", "lp=1:pred-struct=1", "-strict", "experimental", "-c:a", "libmp3lame"},
			stream.Params{Codec: "av1", Width: 192, Height: 128}, stream.Params{Codec: "mp3", SampleRate: 48000, Channels: 2}, 25},
		{"vp9 and mp2", []string{"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-g", "25", "-keyint_min", "25", "-strict", "experimental", "-c:a", "mp2"},
			stream.Params{Codec: "vp9", Width: 192, Height: 128}, stream.Params{Codec: "mp2", SampleRate: 48000, Channels: 2}, 25},
		{"vp8 and g722", []string{"-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-g", "25", "-keyint_min", "25", "-c:a", "g722", "-ar", "16000", "-ac", "1"},
			stream.Params{Codec: "vp8", Width: 192, Height: 128}, stream.Params{Codec: "g722", SampleRate: 16000, Channels: 1}, 25},
		{"jpeg and pcmu", []string{"-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-huffman", "default", "-q:v", "8", "-c:a", "pcm_mulaw", "-ar", "8000", "-ac", "1"},
			stream.Params{Codec: "mjpeg", Width: 192, Height: 128}, stream.Params{Codec: "pcmu", SampleRate: 8000, Channels: 1}, 1},
		{"h264 and aac in latm", []string{"-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-sc_threshold", "0", "-c:a", "aac", "-rtpflags", "latm"},
			stream.Params{Codec: "h264", Width: 192, Height: 128, FPS: 25}, stream.Params{Codec: "aac", SampleRate: 48000, Channels: 2}, 25},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			port := counterpart.Port(t)
			sink := &taken{}
			done := await(t, port, sink, 15*time.Second)
			counterpart.Run(t, ffmpeg, append(append([]string{"-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=192x128:r=25", "-f", "lavfi", "-i", "sine=r=48000", "-t", "2",
				"-threads", "1", "-pix_fmt", "yuv420p", "-ac", "2"}, c.encode...), "-f", "rtsp", "-rtsp_transport", "tcp", fmt.Sprintf("rtsp://127.0.0.1:%d/cam", port))...)
			err := <-done
			var ended *stream.Ended
			if !errors.As(err, &ended) || !strings.Contains(err.Error(), "TEARDOWN") {
				t.Errorf("%v", err)
			}
			v, a := sink.of(stream.Video), sink.of(stream.Audio)
			keys := 0
			for _, f := range v {
				if f.Key {
					keys++
				}
			}
			if len(v) != 50 || keys != 50/c.keys || len(a) < 40 || sink.counts != [stream.Counts]uint64{} {
				t.Fatalf("%d pictures of 50, %d of them key pictures; %d blocks of sound; counts %v", len(v), keys, len(a), sink.counts)
			}
			if fps := float64(len(v)-1) * 1e9 / float64(v[len(v)-1].DTS-v[0].DTS); math.Abs(fps-25) > 0.3 {
				t.Errorf("%.2f fps by DTS, want 25", fps)
			}
			told := map[stream.Kind]stream.Params{}
			for _, p := range sink.params {
				told[p.Kind] = p
			}
			if c.video.FPS == 0 {
				p := told[stream.Video]
				p.FPS = 0 // not in what these codecs tell
				told[stream.Video] = p
			}
			c.video.Kind, c.audio.Kind = stream.Video, stream.Audio
			if told[stream.Video] != c.video || told[stream.Audio] != c.audio {
				t.Errorf("%+v, want %+v and %+v", told, c.video, c.audio)
			}
		})
	}
}
