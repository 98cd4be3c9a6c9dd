package streams

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/streams/sound"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// listener is a stream.Sounds that takes two seconds of audio.
type listener struct {
	left atomic.Int32
	got  chan stream.Sound
}

func (l *listener) Wanted() bool { return l.left.Load() > 0 }
func (l *listener) Sound(s stream.Sound, _ int64) {
	if l.left.Add(-1) >= 0 {
		l.got <- s
	}
}

// toned is ffmpeg that makes a small film with a tone at -18 dBFS.
func toned(out ...string) []string {
	argv := []string{"ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=10", "-re", "-f", "lavfi", "-i", "sine=r=48000",
		"-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-threads", "1", "-t", "40"}
	return append(argv, out...)
}

// Audio of every protocol comes to whoever wants it, and is as loud as it was made.
func TestAudioOfEveryProtocol(t *testing.T) {
	server := startOrigin(t)
	dir := t.TempDir()
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(web.Close)
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		name, codec string
		begin       func(o *origin, codec string) string // gives the URL
	}{
		{"RTMP", "aac", func(o *origin, _ string) string {
			o.run(toned("-c:a", "aac", "-f", "flv", o.url("cam"))...)
			return o.url("cam")
		}},
		{"RTSP of GStreamer", "aac", func(o *origin, _ string) string { return gstreamer(o.t, in("gst.mp4")) }},
		{"RTSP published by ffmpeg", "pcma", func(o *origin, _ string) string {
			at := free(o.t)
			time.AfterFunc(time.Second, func() {
				o.run(toned("-c:a", "pcm_alaw", "-ar", "8000", "-f", "rtsp", "-rtsp_transport", "tcp", "rtsp://"+at+"/cam")...)
			})
			return "rtsp-listen://" + at + "/cam"
		}},
		{"RTP", "aac", rtpToneOf(in("tone.sdp"))},
		{"MPEG-TS", "ac3", func(o *origin, _ string) string {
			at := "udp://" + free(o.t)
			o.run(toned("-c:a", "ac3", "-f", "mpegts", at+"?pkt_size=1316")...)
			return at
		}},
		{"HLS of MPEG-TS", "aac", hlsToneOf(web.URL, in("ts"))},
		{"HLS of fragmented MP4", "aac", hlsToneOf(web.URL, in("mp4"), "-hls_segment_type", "fmp4")},
		{"HLS with its audio apart", "aac", hlsToneOf(web.URL, in("apart"), "-map", "0:v", "-map", "1:a", "-master_pl_name", "out.m3u8", "-var_stream_map", "a:0,agroup:sound v:0,agroup:sound")},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, err := url.Parse(c.begin(&origin{t, server.rtmp, server.http}, c.codec)) // what it runs ends with the test
			if err != nil {
				t.Fatal(err)
			}
			open, err := Open(u)
			if err != nil {
				t.Fatal(err)
			}
			l := &listener{got: make(chan stream.Sound, 2)}
			l.left.Store(2)
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			var last atomic.Value
			go func() {
				for ctx.Err() == nil { // it may not be there yet
					if err := open(ctx, u, nobody{}, stream.Options{Now: wire.Monotonic, Sounds: l, Every: 20 * time.Millisecond}); err != nil {
						last.Store(err.Error())
					}
					time.Sleep(200 * time.Millisecond)
				}
			}()
			for range 2 {
				select {
				case s := <-l.got:
					level, err := sound.Decode(ctx, s)
					if err != nil || s.Codec != c.codec || level.DBFS() < -22 || level.DBFS() > -14 {
						t.Errorf("%s of %d bytes: %.1f dBFS, %v", s.Codec, len(s.Bytes), level.DBFS(), err)
					}
				case <-ctx.Done():
					t.Fatalf("no audio of %s: %v", u, last.Load())
				}
			}
		})
	}
}

func rtpToneOf(sdp string) func(*origin, string) string {
	return func(o *origin, _ string) string {
		o.run(toned("-vn", "-c:a", "aac", "-ac", "2", "-f", "rtp", "-sdp_file", sdp, "rtp://"+evenPort(o.t)+"?pkt_size=1200")...)
		o.await("the SDP is written", func() bool { b, err := os.ReadFile(sdp); return err == nil && len(b) > 100 })
		return "sdp://" + sdp
	}
}

func hlsToneOf(base, dir string, more ...string) func(*origin, string) string {
	return func(o *origin, _ string) string {
		if err := os.Mkdir(dir, 0o755); err != nil {
			o.t.Fatal(err)
		}
		list := "out.m3u8"
		if len(more) > 2 {
			list = "out%v.m3u8" // out.m3u8 is the master's
		}
		o.run(toned(append(append([]string{"-c:a", "aac", "-f", "hls", "-hls_time", "1", "-hls_list_size", "5"}, more...), filepath.Join(dir, list))...)...)
		o.await("the playlist is written", func() bool { _, err := os.Stat(filepath.Join(dir, "out.m3u8")); return err == nil })
		return base + "/" + filepath.Base(dir) + "/out.m3u8"
	}
}
