package hls

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// homeAssistant is a low-latency origin that others wrote: Home Assistant's stream
// component, of a camera that sends a key picture each second over MPEG-TS.
func homeAssistant(t *testing.T) (master *url.URL) {
	t.Helper()
	modules := counterpart.HomeAssistant(t)
	ffmpeg := counterpart.Installed(t, "ffmpeg", "ffmpeg")
	port, camera := counterpart.Port(t), counterpart.Port(t)
	c := exec.Command("/usr/bin/python3", "testdata/home_assistant.py", fmt.Sprint(port), fmt.Sprintf("udp://127.0.0.1:%d", camera), t.TempDir())
	c.Env = append(os.Environ(), "PYTHONPATH="+modules, "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	counterpart.Start(t, c)
	counterpart.Run(t, ffmpeg, "-nostdin", "-v", "error", "-threads", "1", "-re", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25",
		"-f", "lavfi", "-i", "sine=sample_rate=48000", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "25", "-sc_threshold", "0",
		"-pix_fmt", "yuv420p", "-c:a", "aac", "-ac", "2", "-f", "mpegts", fmt.Sprintf("udp://127.0.0.1:%d?pkt_size=1316", camera))
	path, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("Home Assistant did not start: %v", err)
	}
	master, err = url.Parse(fmt.Sprintf("http://127.0.0.1:%d%s", port, strings.TrimSpace(path)))
	if err != nil {
		t.Fatal(err)
	}
	counterpart.Await(t, master.Host)
	for range 200 { // it answers 404 until it has two segments
		resp, err := http.Get(master.String())
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return master
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("Home Assistant has no stream after 20 s")
	return nil
}

// asked is what went through a proxy.
type asked struct {
	mu      sync.Mutex
	lists   []string        // the queries of media playlists
	listed  map[string]bool // parts that a playlist had
	parts   map[string]int  // how often each was asked for
	ahead   int             // those that were asked for before they were listed
	whole   int             // segments that were loaded whole
	refused []string
}

var listedPart = regexp.MustCompile(`#EXT-X-PART:.*URI="[^"]*/([^"/]+)"`)

func (a *asked) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		part := strings.Count(name, ".") == 2 // 7.3.m4s is a part of segment 7
		a.mu.Lock()
		if part && !a.listed[name] {
			a.ahead++
		}
		a.mu.Unlock()
		r.Header.Del("Accept-Encoding") // the playlists are read here too
		got := httptest.NewRecorder()
		next.ServeHTTP(got, r)
		a.note(name, part, r.URL.RawQuery, got)
		maps.Copy(w.Header(), got.Header())
		w.WriteHeader(got.Code)
		_, _ = w.Write(got.Body.Bytes())
	})
}

func (a *asked) note(name string, part bool, query string, got *httptest.ResponseRecorder) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case name == "playlist.m3u8":
		a.lists = append(a.lists, query)
		for _, m := range listedPart.FindAllStringSubmatch(got.Body.String(), -1) {
			a.listed[m[1]] = true
		}
	case part:
		a.parts[name]++
	case strings.HasSuffix(name, ".m4s"):
		a.whole++
	}
	if got.Code >= 400 && got.Code != http.StatusBadGateway { // the proxy's own, when a request was given up
		a.refused = append(a.refused, fmt.Sprintf("%d %s?%s", got.Code, name, query))
	}
}

// Low-latency HLS from Home Assistant: playlists are asked for ahead and held back
// until they changed, parts are asked for once each and before they are there, and
// frames come with them, several times in a segment of two seconds.
func TestLiveHomeAssistant(t *testing.T) {
	t.Parallel()
	master := homeAssistant(t)
	a := &asked{parts: map[string]int{}, listed: map[string]bool{}}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: master.Host}) // and no X-Forwarded-For, which it refuses
	}, ErrorLog: log.New(io.Discard, "", 0)} // of what the end of the test cuts off
	at := serve(t, a.watch(proxy))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var k kept
	if err := open(t, ctx, at+master.Path, &k); err != nil {
		t.Fatal(err)
	}
	n, keys, rising := k.of(stream.Video)
	sounds, _, soundsRise := k.of(stream.Audio)
	a.mu.Lock()
	defer a.mu.Unlock()
	t.Logf("%d pictures, %d key; %d frames of audio; %d playlists, %d parts, %d of them ahead, %d whole segments; refused %v; notes %q", n, keys, sounds, len(a.lists), len(a.parts), a.ahead, a.whole, a.refused, k.notes)
	if n < 75 || keys < 3 || keys > n/25+2 || !rising || sounds < n || !soundsRise {
		t.Errorf("%d pictures, %d key, rising %v; %d frames of audio, rising %v", n, keys, rising, sounds, soundsRise)
	}
	blocking := 0
	for _, q := range a.lists {
		if strings.Contains(q, "_HLS_msn=") && strings.Contains(q, "_HLS_part=") {
			blocking++
		}
	}
	if blocking < len(a.lists)-1 || blocking < 8 {
		t.Errorf("%d of %d playlists were asked for ahead: %q", blocking, len(a.lists), a.lists)
	}
	for name, times := range a.parts {
		if times != 1 {
			t.Errorf("part %s was loaded %d times", name, times)
		}
	}
	for _, r := range a.refused { // a part that was announced and never came: its segment ended first
		if !strings.HasPrefix(r, "416 ") {
			t.Errorf("refused: %s", r)
		}
	}
	if a.ahead < len(a.parts)*3/4 || len(a.refused) > 3 {
		t.Errorf("%d of %d parts were asked for before they were listed; refused %q", a.ahead, len(a.parts), a.refused)
	}
	if len(a.parts) < 10 || a.whole > 2 || k.counts != [stream.Counts]uint64{} {
		t.Errorf("%d parts, %d whole segments, counts %v", len(a.parts), a.whole, k.counts)
	}
	// Pictures that came together are of one part; a segment has ten.
	bursts, last := 0, int64(0)
	for _, f := range k.frames {
		if f.Kind == stream.Video && f.Arrival-last > int64(60*time.Millisecond) {
			bursts++
		}
		last = f.Arrival
	}
	if bursts < n/25 {
		t.Errorf("%d pictures came in %d bursts: not part by part", n, bursts)
	}
}
