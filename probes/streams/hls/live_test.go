package hls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

// writer runs ffmpeg's HLS writer into a directory until the test ends.
func writer(t *testing.T, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("ffmpeg is not installed: make setup installs it")
	}
	dir := t.TempDir()
	c := exec.Command(path, append([]string{"-nostdin", "-v", "error", "-threads", "1", "-re",
		"-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25", "-f", "lavfi", "-i", "sine=sample_rate=48000",
		"-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a", "aac", "-ac", "2",
		"-f", "hls", "-hls_time", "1", "-hls_list_size", "5", "-hls_flags", "delete_segments"}, args...)...)
	c.Dir = dir
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			t.Logf("ffmpeg: %s", said.String())
		}
	})
	return dir
}

func TestLiveFFmpeg(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, play string
		args       []string
	}{
		{"MPEG-TS", "out.m3u8", []string{"out.m3u8"}},
		{"fragmented MP4", "out.m3u8", []string{"-hls_segment_type", "fmp4", "out.m3u8"}},
		{"audio of its own", "master.m3u8", []string{"-map", "0:v", "-map", "1:a", "-master_pl_name", "master.m3u8",
			"-var_stream_map", "a:0,agroup:sound v:0,agroup:sound", "out%v.m3u8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := writer(t, c.args...)
			at := serve(t, http.FileServer(http.Dir(dir)))
			ready := filepath.Join(dir, c.play)
			for range 100 {
				if found, _ := filepath.Glob(ready); found != nil {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
			defer cancel()
			var k kept
			if err := open(t, ctx, at+"/"+c.play, &k); err != nil {
				t.Fatal(err)
			}
			k.checkLive(t)
		})
	}
}

func (k *kept) checkLive(t *testing.T) {
	t.Helper()
	n, keys, rising := k.of(stream.Video)
	sounds, _, soundsRise := k.of(stream.Audio)
	if n < 50 || keys < 2 || !rising || sounds < n || !soundsRise {
		t.Fatalf("%d pictures, %d key, rising %v; %d frames of audio, rising %v", n, keys, rising, sounds, soundsRise)
	}
	if keys > n/25+1 {
		t.Errorf("%d of %d pictures are key, want one of 25", keys, n)
	}
	var first, last stream.Frame
	for _, f := range k.frames {
		if f.Kind == stream.Video {
			if first.Size == 0 {
				first = f
			}
			last = f
		}
	}
	if fps := float64(n-1) * 1e9 / float64(last.DTS-first.DTS); fps < 24.9 || fps > 25.1 {
		t.Errorf("%.2f pictures per second by DTS, want 25", fps)
	}
	for _, c := range []stream.Count{stream.ContinuityErrors, stream.SequenceResets, stream.SegmentsFailed, stream.Discontinuities} {
		if k.counts[c] != 0 {
			t.Errorf("count %d is %d", c, k.counts[c])
		}
	}
	if k.let != 1 || len(k.gauges[stream.SegmentSlowness]) == 0 || len(k.gauges[stream.PlaylistAge]) < 3 {
		t.Errorf("published %d times; gauges %v", k.let, k.gauges)
	}
	for _, v := range k.gauges[stream.SegmentSlowness] {
		if v <= 0 || v > 1 {
			t.Errorf("a segment of a second took %v of its duration to load from this host", v)
		}
	}
	told := fmt.Sprint(k.params)
	for _, want := range []string{"h264 160 120 25", "aac 0 0 0 48000 2"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in %s", want, told)
		}
	}
}

// parts serves a fragmented MP4 as low-latency HLS: a part each 200 ms, two parts
// a segment, requests for what is not there yet held back.
type parts struct {
	init  []byte
	parts [][]byte
	begin time.Time
	mu    sync.Mutex
	asked []string
	loads map[string]int
}

const partEvery = 200 * time.Millisecond

func (p *parts) there() int {
	return min(len(p.parts), 1+int(time.Since(p.begin)/partEvery))
}

func (p *parts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if p.begin.IsZero() {
		p.begin = time.Now()
	}
	p.loads[r.URL.Path]++
	if strings.HasSuffix(r.URL.Path, ".m3u8") {
		p.asked = append(p.asked, r.URL.RawQuery)
	}
	p.mu.Unlock()
	switch {
	case r.URL.Path == "/init.mp4":
		_, _ = w.Write(p.init)
	case strings.HasPrefix(r.URL.Path, "/p"):
		i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/p"))
		if err != nil || i >= p.there() {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(p.parts[i])
	case strings.HasPrefix(r.URL.Path, "/s"):
		i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/s"))
		if err != nil || 2*i+1 >= p.there() {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(append(bytes.Clone(p.parts[2*i]), p.parts[2*i+1]...))
	default:
		msn, _ := strconv.Atoi(r.URL.Query().Get("_HLS_msn"))
		part, _ := strconv.Atoi(r.URL.Query().Get("_HLS_part"))
		for want := 2*msn + part; p.there() <= want && p.there() < len(p.parts); {
			time.Sleep(5 * time.Millisecond)
		}
		_, _ = w.Write(p.playlist())
	}
}

func (p *parts) playlist() []byte {
	var b bytes.Buffer
	b.WriteString("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PART-INF:PART-TARGET=0.2\n#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n#EXT-X-MAP:URI=\"init.mp4\"\n")
	n := p.there()
	for i := range n {
		fmt.Fprintf(&b, "#EXT-X-PART:DURATION=0.2,URI=\"p%d\"\n", i)
		if i%2 == 1 {
			fmt.Fprintf(&b, "#EXTINF:0.4,\ns%d\n", i/2)
		}
	}
	if n == len(p.parts) {
		b.WriteString("#EXT-X-ENDLIST\n")
	}
	return b.Bytes()
}

// fragments cuts a file before each moof.
func fragments(b []byte) (init []byte, all [][]byte) {
	cut := func() int {
		if i := bytes.Index(b[8:], []byte("moof")); i >= 0 {
			return i + 4
		}
		return len(b)
	}
	n := cut()
	init, b = b[:n], b[n:]
	for len(b) > 8 {
		n := cut()
		all = append(all, b[:n])
		b = b[n:]
	}
	return init, all
}

func TestLowLatency(t *testing.T) {
	t.Parallel()
	init, all := fragments(fixture(t, "mp4", "testdata", "low-latency.mp4"))
	if len(all) < 8 {
		t.Fatalf("%d parts", len(all))
	}
	p := &parts{init: init, parts: all[:8], loads: map[string]int{}}
	at := serve(t, p)
	var k kept
	wantEnd(t, open(t, context.Background(), at+"/live.m3u8", &k))
	k.wantPictures(t, 40, 8)
	if fmt.Sprint(p.asked[:3]) != "[ _HLS_msn=0&_HLS_part=1 _HLS_msn=1&_HLS_part=0]" {
		t.Errorf("the playlist was asked for with %q", p.asked)
	}
	for path, n := range p.loads {
		if path != "/live.m3u8" && n != 1 {
			t.Errorf("%s was loaded %d times", path, n)
		}
	}
	// Each part came when it was there, not with its segment.
	var waits []time.Duration
	var last int64
	for _, f := range k.frames {
		if f.Key {
			if last > 0 {
				waits = append(waits, time.Duration(f.Arrival-last))
			}
			last = f.Arrival
		}
	}
	for _, w := range waits[:len(waits)-1] {
		if w < partEvery/4 {
			t.Errorf("key pictures came %v apart: two parts at once", waits)
			break
		}
	}
}

// A server whose playlist is set by the test.
type scripted struct {
	list  atomic.Pointer[string]
	media []byte
}

func (s *scripted) set(format string, args ...any) {
	text := "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + fmt.Sprintf(format, args...)
	s.list.Store(&text)
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, ".m3u8"):
		text := s.list.Load()
		if text == nil {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, *text)
	case strings.HasPrefix(r.URL.Path, "/gone"):
		http.NotFound(w, r)
	default:
		_, _ = w.Write(s.media)
	}
}

func TestPlaylistsThatGoWrong(t *testing.T) {
	t.Parallel()
	s := &scripted{media: fixture(t, "ts", "testdata", "h264-aac.ts")}
	at := serve(t, s)
	var k kept
	s.set("#EXT-X-MEDIA-SEQUENCE:100\n#EXTINF:1,\na\n#EXTINF:1,\nb\n")
	done := make(chan error, 1)
	go func() { done <- open(t, context.Background(), at+"/live.m3u8", &k) }()
	until := func(what string, f func() bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Second); !f(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("never: %s; counts %v", what, k.counts)
			}
		}
	}
	pictures := func(n int) func() bool {
		return func() bool { got, _, _ := k.of(stream.Video); return got >= n }
	}
	until("the last segment is read", pictures(25))
	s.set("#EXT-X-MEDIA-SEQUENCE:101\n#EXTINF:1,\nb\n#EXT-X-DISCONTINUITY\n#EXTINF:1,\ngone\n")
	until("a segment fails", func() bool { return k.count(stream.SegmentsFailed) == 1 && k.count(stream.Discontinuities) == 1 })
	s.set("#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1,\na\n")
	until("the sequence goes back, and is followed", func() bool { return k.count(stream.SequenceResets) == 1 && pictures(50)() })
	s.set("#EXT-X-MEDIA-SEQUENCE:5\n#EXTINF:1,\nf\n")
	until("what was taken out is passed over", pictures(75))
	until("the playlist gets old", func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		ages := k.gauges[stream.PlaylistAge]
		return len(ages) > 0 && ages[len(ages)-1] > 1.5
	})
	select {
	case err := <-done:
		t.Fatalf("an old playlist is not an end: %v", err)
	default:
	}
	s.list.Store(nil)
	var err error
	select {
	case err = <-done:
	case <-time.After(8 * time.Second):
		t.Fatal("a playlist that is gone is the end")
	}
	var ended *stream.Ended
	if !errors.As(err, &ended) || !strings.Contains(ended.Why, "404") {
		t.Errorf("%v, want the end by 404", err)
	}
	if n, _, _ := k.of(stream.Video); n != 75 {
		t.Errorf("%d pictures, want 75", n)
	}
}
