package rtmp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// modern is a stream as ffmpeg 8 publishes it: codecs that only enhanced RTMP has.
type modern struct {
	name   string
	encode []string
	video  stream.Params
	audio  stream.Params
	new    bool // node-media-server 2 drops its video
}

var moderns = []modern{
	{"hevc-aac", []string{"-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:pools=1:frame-threads=1:bframes=2:keyint=25:min-keyint=25:scenecut=0", "-c:a", "aac", "-ac", "2"},
		stream.Params{Kind: stream.Video, Codec: "hevc", Width: 192, Height: 128, FPS: 25}, stream.Params{Kind: stream.Audio, Codec: "aac", SampleRate: 48000, Channels: 2}, false},
	{"av1-opus", []string{"-c:v", "libsvtav1", "-preset", "12", "-g", "25", "-svtav1-params", "lp=1:pred-struct=1", "-c:a", "libopus", "-ac", "2"},
		stream.Params{Kind: stream.Video, Codec: "av1", Width: 192, Height: 128}, stream.Params{Kind: stream.Audio, Codec: "opus", SampleRate: 48000, Channels: 2}, false},
	{"vp9-ac3", []string{"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-threads", "1", "-g", "25", "-keyint_min", "25", "-b:v", "200k", "-c:a", "ac3", "-b:a", "96k", "-ac", "2"},
		stream.Params{Kind: stream.Video, Codec: "vp9", Width: 192, Height: 128}, stream.Params{Kind: stream.Audio, Codec: "ac3", SampleRate: 48000, Channels: 2}, true},
}

// publish sends it to each URL for some seconds.
func (m modern) publish(t *testing.T, url string, seconds int) {
	t.Helper()
	args := []string{"-nostdin", "-hide_banner", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=192x128:rate=25",
		"-f", "lavfi", "-i", "sine=sample_rate=48000", "-pix_fmt", "yuv420p", "-t", fmt.Sprint(seconds)}
	counterpart.Run(t, counterpart.FFmpeg(t), append(append(args, m.encode...), "-rtmp_enhanced_codecs", "hvc1,av01,vp09", "-f", "flv", url)...)
}

// some is enough after so many pictures.
type some struct {
	seen
	pictures int
	stop     func()
}

func (s *some) Frame(f stream.Frame) {
	s.seen.Frame(f)
	if f.Kind != stream.Video {
		return
	}
	if s.pictures--; s.pictures == 0 {
		s.stop()
	}
}

// check knows what was published.
func (m modern) check(t *testing.T, sink *seen) {
	t.Helper()
	var video, audio []stream.Frame
	keys := 0
	for _, f := range sink.frames {
		if f.Kind == stream.Audio {
			audio = append(audio, f)
			continue
		}
		if f.Key {
			keys++
		}
		if n := len(video); n > 0 && f.DTS <= video[n-1].DTS {
			t.Fatalf("a DTS of %d after %d", f.DTS, video[n-1].DTS)
		}
		video = append(video, f)
	}
	if len(video) < 50 || keys < 2 || keys > len(video)/25+1 || len(audio) < len(video)/2 {
		t.Fatalf("%d pictures, %d of them key pictures, one of 25; %d blocks of sound", len(video), keys, len(audio))
	}
	span := float64(video[len(video)-1].DTS-video[0].DTS) / 1e9
	if fps := float64(len(video)-1) / span; math.Abs(fps-25) > 0.3 {
		t.Errorf("%.2f fps by DTS, want 25", fps)
	}
	last := map[stream.Kind]stream.Params{}
	for _, p := range sink.params {
		last[p.Kind] = p
	}
	v := last[stream.Video]
	if m.video.FPS == 0 {
		v.FPS = 0 // AV1's and VP9's configuration does not tell it: the metadata may
	}
	if v != m.video {
		t.Errorf("video is %+v, want %+v", last[stream.Video], m.video)
	}
	if a := last[stream.Audio]; a != m.audio {
		t.Errorf("audio is %+v, want %+v", a, m.audio)
	}
}

// Both versions of node-media-server, with what every publisher sends and with
// enhanced RTMP from ffmpeg 8. nginx-rtmp passes on the latter's audio alone: it takes
// a FourCC's frame type for a low priority, and drops all such video
// (ngx_rtmp_send_message).
func TestLiveNodeMediaServer(t *testing.T) {
	t.Parallel()
	counterpart.FFmpeg(t)
	type read struct {
		name  string
		sink  *seen
		err   error
		check func(*testing.T, *seen)
	}
	done := make(chan read)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	play := func(name, url string, check func(*testing.T, *seen)) {
		until, stop := context.WithCancel(ctx)
		defer stop()
		sink := &some{pictures: 80, stop: stop} // it may not tell players of the end
		err := openAt(t, until, url, sink, stream.Options{Every: 40 * time.Millisecond})
		done <- read{name, &sink.seen, err, check}
	}
	reads := 0
	for _, server := range []string{newNode, oldNode} {
		url := "rtmp://" + nodeMediaServer(t, server) + "/live/"
		publish(t, url+"cam1", 8)
		go play(server+", h264-aac", url+"cam1?token=x", func(t *testing.T, sink *seen) { check(t, server, sink) })
		reads++
		for _, m := range moderns {
			if m.new && server == oldNode {
				continue
			}
			m.publish(t, url+m.name, 8)
			go play(server+", "+m.name, url+m.name, m.check)
			reads++
		}
	}
	for range reads {
		r := <-done
		t.Run(r.name, func(t *testing.T) {
			var ended *stream.Ended
			if r.err != nil && !errors.As(r.err, &ended) {
				t.Fatal(r.err)
			}
			r.check(t, r.sink)
		})
	}
}
