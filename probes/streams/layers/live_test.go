package layers_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/probes/streams/hls"
	"snag/probes/streams/layers"
	"snag/probes/streams/rtmp"
	"snag/probes/streams/stream"
)

const nginxModule = "/usr/lib/nginx/modules/ngx_rtmp_module.so"

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	var said strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s said: %s", name, said.String())
		}
	})
}

// none is a Sink that only counts.
type none struct {
	mu     sync.Mutex
	frames int
}

func (*none) Published(int64, string, string) {}
func (*none) Params(stream.Params)            {}
func (*none) Count(stream.Count, uint64)      {}
func (*none) Gauge(stream.Gauge, float64)     {}
func (n *none) Frame(stream.Frame) {
	n.mu.Lock()
	n.frames++
	n.mu.Unlock()
}

// A stream that nginx-rtmp takes in, pushes on, and packs as HLS: the frames of each
// place are found at the next.
func TestLiveLayers(t *testing.T) {
	if _, err := os.Stat(nginxModule); err != nil {
		t.Fatal("no nginx with the RTMP module: make setup installs it")
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Fatal("no ffmpeg: make setup installs it")
	}
	dir, in, edge, web := t.TempDir(), free(t), free(t), free(t)
	conf := filepath.Join(dir, "nginx.conf")
	text := strings.NewReplacer("MODULE", nginxModule, "DIR", dir, "IN", in, "EDGE", edge, "WEB", web).Replace(`load_module MODULE;
user root;
daemon off;
master_process off;
pid DIR/nginx.pid;
error_log DIR/error.log error;
events { worker_connections 256; }
rtmp {
    access_log off;
    server { listen IN; application live { live on; push rtmp://EDGE/live; } }
    server { listen EDGE; application live { live on; hls on; hls_path DIR/hls; hls_fragment 1s; hls_playlist_length 20s; } }
}
http { access_log off; server { listen WEB; location / { root DIR; } } }
`)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "nginx", "-p", dir, "-c", conf, "-e", filepath.Join(dir, "error.log"))
	for range 100 {
		if c, err := net.Dial("tcp", in); err == nil {
			c.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	run(t, "ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25",
		"-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25", "-b:v", "200k", "-threads", "1", "-pix_fmt", "yuv420p",
		"-t", "60", "-f", "flv", "rtmp://"+in+"/live/a")

	ctx, cancel := context.WithCancel(context.Background())
	began := time.Now()
	now := func() int64 { return int64(time.Since(began)) + 1 }
	m := layers.New([]string{"ingest", "edge", "hls"})
	var sinks [3]none
	var wg sync.WaitGroup
	for at, place := range []struct {
		url  string
		open stream.Open
	}{{"rtmp://" + in + "/live/a", rtmp.Open}, {"rtmp://" + edge + "/live/a", rtmp.Open}, {"http://" + web + "/hls/a.m3u8", hls.Open}} {
		u, err := url.Parse(place.url)
		if err != nil {
			t.Fatal(err)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for ctx.Err() == nil { // the playlist is not there at once
				place.open(ctx, u, m.Sink(at, &sinks[at]), stream.Options{Now: now})
				time.Sleep(200 * time.Millisecond)
			}
		}()
	}
	// Seconds after both hops are locked.
	var sum [2]layers.Hop
	locked := 0
	for range 24 {
		time.Sleep(time.Second)
		hops := m.Tick(now(), nil)
		for i, h := range hops {
			sum[i].How, sum[i].Rebased = h.How, h.Rebased
			sum[i].Matched, sum[i].Missing, sum[i].Added = sum[i].Matched+h.Matched, sum[i].Missing+h.Missing, sum[i].Added+h.Added
			if h.Delays > 0 {
				sum[i].Delay = h.Delay
			}
		}
		if hops[0].How != layers.Searching && hops[1].How != layers.Searching {
			if locked++; locked == 4 {
				break
			}
		}
	}
	cancel()
	wg.Wait()
	for i, h := range sum {
		t.Logf("hop %d: %v, %d matched, %d missing, %d added, delay %v, rebased %v", i, h.How, h.Matched, h.Missing, h.Added, time.Duration(h.Delay), time.Duration(h.Rebased))
		if h.Matched < 50 || h.Missing+h.Added > h.Matched/20 {
			t.Errorf("hop %d: %d matched, %d missing, %d added", i, h.Matched, h.Missing, h.Added)
		}
	}
	if sum[0].How != layers.Same || sum[1].How != layers.Same && sum[1].How != layers.Remuxed {
		t.Errorf("matched by %v and %v", sum[0].How, sum[1].How)
	}
	if d := sum[1].Delay; d < int64(200*time.Millisecond) || d > int64(15*time.Second) {
		t.Errorf("HLS is %v behind", time.Duration(d))
	}
}
