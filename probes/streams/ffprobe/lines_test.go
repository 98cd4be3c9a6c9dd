package ffprobe

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"snag/probes/streams/stream"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		line string
		want packet
		ok   bool
	}{
		{"packet|codec_type=video|stream_index=0|pts_time=1.480000|dts_time=1.400000|size=4135|flags=K_\r\n", packet{stream.Video, 0, 1_480_000_000, 1_400_000_000, true, 4135, true}, true},
		{"packet|codec_type=audio|stream_index=1|pts_time=95443.717689|dts_time=95443.717689|size=208|flags=K__|side_data|side_data_type=MPEGTS Stream ID|id=192\n", packet{stream.Audio, 1, 95443_717_689_000, 95443_717_689_000, true, 208, true}, true},
		{"packet|codec_type=video|stream_index=0|pts_time=N/A|dts_time=-0.040000|size=9|flags=__", packet{stream.Video, 0, -40_000_000, -40_000_000, true, 9, false}, true},
		{"packet|codec_type=data|stream_index=2|pts_time=N/A|dts_time=N/A|size=9|flags=__", packet{kind: stream.Data, index: 2, size: 9}, true},
		{"packet|codec_type=video|stream_index=0|size=99999999999", packet{}, false},
		{"packet|", packet{}, false},
		{"stream|index=0|codec_name=h264", packet{}, false},
		{"", packet{}, false},
	} {
		got, ok := parse([]byte(c.line))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v %v", c.line, got, ok)
		}
	}
}

// Lines of FFmpeg 5.1's log.
func TestParameters(t *testing.T) {
	for line, want := range map[string]stream.Params{
		"  Stream #0:0[0x100]: Video: h264 (High) ([27][0][0][0] / 0x001B), yuv420p(progressive), 320x240 [SAR 1:1 DAR 4:3], 25 fps, 25 tbr, 90k tbn": {Kind: stream.Video, Codec: "h264", Width: 320, Height: 240, FPS: 25},
		"  Stream #0:1[0x101](eng): Audio: aac (LC) ([15][0][0][0] / 0x000F), 44100 Hz, stereo, fltp, 131 kb/s":                                       {Kind: stream.Audio, Codec: "aac", SampleRate: 44100, Channels: 2},
		"  Stream #0:0: Video: hevc (Main), yuv420p(tv), 1920x1080, 29.97 fps, 29.97 tbr, 90k tbn":                                                    {Kind: stream.Video, Codec: "hevc", Width: 1920, Height: 1080, FPS: 29.97},
		"  Stream #0:1: Audio: pcm_alaw, 8000 Hz, mono, s16, 64 kb/s":                                                                                 {Kind: stream.Audio, Codec: "pcma", SampleRate: 8000, Channels: 1},
	} {
		if got, _, ok := parameters(line); !ok || got != want {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if _, _, ok := parameters("Input #0, mpegts, from 'udp://127.0.0.1:1':"); ok {
		t.Error("a line without a stream")
	}
}

func TestTarget(t *testing.T) {
	for in, want := range map[string]string{
		"srt://h:9000?passphrase=x":    "srt://h:9000?passphrase=x",
		"ffprobe+rtsp://u:p@h/a":       "rtsp://u:p@h/a",
		"FFPROBE+UDP://239.0.0.1:1234": "udp://239.0.0.1:1234",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := target(u)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
		if a := arguments(got); a[len(a)-2] != "-i" || a[len(a)-1] != want {
			t.Errorf("%q", a)
		}
	}
	for _, in := range []string{"file:///etc/passwd", "concat:a|b", "pipe:0", "-loglevel", "subfile,,start,0,end,9,,:/etc/passwd", "ffprobe+file:///etc/passwd", "data:text/plain,x"} {
		u, err := url.Parse(in)
		if err != nil {
			continue
		}
		if got, err := target(u); err == nil {
			t.Errorf("%s is given to ffprobe as %s", in, got)
		}
	}
	white := arguments("srt://h:1")[slices.Index(arguments("srt://h:1"), "-protocol_whitelist")+1]
	for _, bad := range []string{"file", "pipe", "concat", "subfile", "data", "unix", "fd"} {
		if slices.Contains(strings.Split(white, ","), bad) {
			t.Errorf("%s may be opened", bad)
		}
	}
}

func TestLinesAreBounded(t *testing.T) {
	var got []string
	lines(strings.NewReader("a\n"+strings.Repeat("x", 3*maxLine)+"\nb\nc"), func(b []byte) { got = append(got, strings.TrimSpace(string(b))) })
	if strings.Join(got, " ") != "a b c" {
		t.Errorf("%q", got)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("packet|codec_type=video|stream_index=0|pts_time=1.480000|dts_time=1.400000|size=4135|flags=K_")
	f.Add("  Stream #0:0[0x100]: Video: h264 (High), yuv420p, 320x240 [SAR 1:1 DAR 4:3], 25 fps, 25 tbr, 90k tbn")
	f.Fuzz(func(t *testing.T, line string) {
		if p, ok := parse([]byte(line)); ok && (p.size < 0 || p.index < 0) {
			t.Errorf("%+v", p)
		}
		if p, i, ok := parameters(line); ok && (i < 0 || p.Codec == "" || p.Width > 99999) {
			t.Errorf("%+v %d", p, i)
		}
	})
}

// The cost of one line, beside which ffprobe's own is far more.
func BenchmarkParse(b *testing.B) {
	line := []byte("packet|codec_type=video|stream_index=0|pts_time=1.480000|dts_time=1.400000|size=4135|flags=K_\r\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := parse(line); !ok {
			b.Fatal("not read")
		}
	}
}
