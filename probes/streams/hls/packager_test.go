package hls

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// made runs a program in a folder to its end.
func made(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", filepath.Base(name), err, out)
	}
}

// picture is what must be the same however a film is packed.
type picture struct {
	after int64 // DTS since the first
	key   bool
}

// onAir serves a folder's playlists as live ones that are at their first segment when
// they are first asked for and have ended when they are next.
func onAir(t *testing.T, dir string) (at string) {
	t.Helper()
	var mu sync.Mutex
	all := live{}
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if _, ok := all[r.URL.Path]; !ok {
			b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(r.URL.Path)))
			if err != nil {
				http.NotFound(w, r)
				return
			}
			if strings.HasSuffix(r.URL.Path, ".m3u8") {
				b = bytes.ReplaceAll(b, []byte("#EXT-X-PLAYLIST-TYPE:VOD\n"), nil)
				b = regexp.MustCompile("#EXT-X-TARGETDURATION:.*").ReplaceAll(b, []byte("#EXT-X-TARGETDURATION:0.2"))
			}
			all[r.URL.Path] = b
		}
		if b := all[r.URL.Path]; bytes.Contains(b, []byte("#EXT-X-STREAM-INF")) {
			_, _ = w.Write(b)
			return
		}
		all.ServeHTTP(w, r)
	}))
}

// seenOf reads a playlist to its end, and what came of it.
func seenOf(t *testing.T, at, name string) (pictures []picture, sizes []int, k *kept) {
	t.Helper()
	k = &kept{}
	wantEnd(t, open(t, context.Background(), at+"/"+name, k))
	var first int64
	for _, f := range k.frames {
		if f.Kind != stream.Video {
			continue
		}
		if len(pictures) == 0 {
			first = f.DTS
		}
		pictures = append(pictures, picture{f.DTS - first, f.Key})
		sizes = append(sizes, f.Size)
	}
	for _, c := range []stream.Count{stream.ContinuityErrors, stream.SequenceResets, stream.SegmentsFailed, stream.Discontinuities} {
		if k.counts[c] != 0 {
			t.Errorf("count %d is %d", c, k.counts[c])
		}
	}
	return pictures, sizes, k
}

const (
	keyID  = "00112233445566778899aabbccddeeff"
	secret = "0123456789abcdef0123456789abcdef"
)

// What real packagers encrypt: whole segments with AES-128, samples with SAMPLE-AES
// in MPEG-TS and in bare AAC, and with cbcs and cenc in fragmented MP4. Of each the
// same pictures are seen as of the film in the clear.
func TestRealEncryption(t *testing.T) {
	t.Parallel()
	packager := counterpart.Packager(t)
	ffmpeg := counterpart.Installed(t, "ffmpeg", "ffmpeg")
	dir := t.TempDir()
	made(t, dir, ffmpeg, "-nostdin", "-v", "error", "-threads", "1", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=sample_rate=48000",
		"-t", "5", "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25", "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-c:a", "aac", "-ac", "2", "film.mp4")
	key := filepath.Join(dir, "secret.key")
	if err := os.WriteFile(key, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key.info"), []byte("secret.key\n"+key+"\n"+keyID+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hls := func(name string, more ...string) {
		made(t, dir, ffmpeg, append(append([]string{"-nostdin", "-v", "error", "-i", "film.mp4", "-c", "copy", "-f", "hls", "-hls_time", "1",
			"-hls_playlist_type", "vod", "-hls_segment_filename", name + "_%d.ts"}, more...), name+".m3u8")...)
	}
	hls("clear")
	hls("aes", "-hls_key_info_file", "key.info")
	pack := func(name, scheme, video, audio string) {
		args := []string{
			"in=film.mp4,stream=video," + strings.ReplaceAll(video, "NAME", name+"_v") + ",playlist_name=" + name + "_v.m3u8",
			"in=film.mp4,stream=audio," + strings.ReplaceAll(audio, "NAME", name+"_a") + ",hls_group_id=sound,playlist_name=" + name + "_a.m3u8",
			"--hls_master_playlist_output", name + ".m3u8", "--segment_duration", "1", "--quiet"}
		if scheme != "" {
			args = append(args, "--enable_raw_key_encryption", "--keys", "label=:key_id="+keyID+":key="+secret, "--protection_scheme", scheme, "--clear_lead", "0")
		}
		made(t, dir, packager, args...)
	}
	const fragmented, transport, packed = "init_segment=NAME.mp4,segment_template=NAME_$Number$.m4s", "segment_template=NAME_$Number$.ts", "segment_template=NAME_$Number$.aac"
	pack("cbcs", "cbcs", fragmented, fragmented)
	pack("cenc", "cenc", fragmented, fragmented)
	pack("sample", "cbcs", transport, packed)
	pack("plain", "", transport, packed)
	at := onAir(t, dir)
	want, sizes, _ := seenOf(t, at, "clear.m3u8")
	if len(want) != 125 {
		t.Fatalf("%d pictures in the clear, want 125", len(want))
	}
	for _, c := range []struct{ name, tag string }{
		{"aes", "METHOD=AES-128"}, {"plain", "#EXTINF"}, {"sample", "METHOD=SAMPLE-AES"}, {"cbcs", "METHOD=SAMPLE-AES"}, {"cenc", "#EXTINF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := c.name + ".m3u8"
			if c.name != "aes" {
				list = c.name + "_v.m3u8"
			}
			if text := string(fixtureAt(t, filepath.Join(dir, list))); !strings.Contains(text, c.tag) {
				t.Fatalf("no %s in the playlist: %s", c.tag, text)
			}
			got, gotSizes, k := seenOf(t, at, c.name+".m3u8")
			if !slices.Equal(got, want) {
				t.Fatalf("%d pictures %v, in the clear %d %v", len(got), got[:min(len(got), 10)], len(want), want[:10])
			}
			if c.name == "aes" && !slices.Equal(gotSizes, sizes) {
				t.Errorf("sizes %v, in the clear %v", gotSizes, sizes)
			}
			told := fmt.Sprint(k.params)
			for _, want := range []string{"h264 320 180 25", "aac 0 0 0 48000 2"} {
				if !strings.Contains(told, want) {
					t.Errorf("no %q in %s", want, told)
				}
			}
			if n, _, rising := k.of(stream.Audio); n < 230 || !rising {
				t.Errorf("%d frames of audio, rising %v", n, rising)
			}
		})
	}
}

func fixtureAt(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// HEVC and AV1 in segments as ffmpeg 8 writes them: as many pictures as went in, the
// keys where they were asked for.
func TestRealCodecs(t *testing.T) {
	t.Parallel()
	ffmpeg := counterpart.FFmpeg(t)
	dir := t.TempDir()
	at := onAir(t, dir)
	for _, c := range []struct {
		name   string
		encode []string
		video  string
		audio  string
	}{
		{"hevc in fMP4", []string{"-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1", "-x265-params", "log-level=none:pools=1:frame-threads=1:bframes=2:keyint=25:min-keyint=25:scenecut=0", "-c:a", "libopus", "-hls_segment_type", "fmp4"}, "hevc 192 128", "opus"},
		{"av1 in fMP4", []string{"-c:v", "libsvtav1", "-preset", "12", "-g", "25", "-svtav1-params", "lp=1", "-c:a", "aac", "-hls_segment_type", "fmp4"}, "av1 192 128", "aac"},
		{"vp9 in fMP4", []string{"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-g", "25", "-keyint_min", "25", "-c:a", "ac3", "-hls_segment_type", "fmp4"}, "vp9 192 128", "ac3"},
		{"hevc in MPEG-TS", []string{"-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:pools=1:frame-threads=1:bframes=2:keyint=25:min-keyint=25:scenecut=0", "-c:a", "eac3"}, "hevc 192 128", "eac3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := strings.ReplaceAll(c.name, " ", "-")
			made(t, dir, ffmpeg, append(append([]string{"-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=192x128:rate=25", "-f", "lavfi", "-i", "sine=sample_rate=48000",
				"-t", "3", "-pix_fmt", "yuv420p", "-ac", "2", "-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod", "-hls_fmp4_init_filename", name + ".mp4"}, c.encode...), name+".m3u8")...)
			got, _, k := seenOf(t, at, name+".m3u8")
			if len(got) != 75 {
				t.Errorf("%d pictures, want 75", len(got))
			}
			for i, p := range got {
				if p.key != (i%25 == 0) {
					t.Errorf("picture %d: key is %v", i, p.key)
				}
			}
			told := fmt.Sprint(k.params)
			if n, _, rising := k.of(stream.Audio); n < 70 || !rising || !strings.Contains(told, c.video) || !strings.Contains(told, c.audio) {
				t.Errorf("%d frames of audio, rising %v; %s", n, rising, told)
			}
		})
	}
}
