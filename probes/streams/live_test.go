package streams

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/streams/figures"
	"snag/probes/streams/watch"
	"snag/recording"
)

// origin is a real nginx with its RTMP module on loopback, whose files and ports
// are the test's own.
type origin struct {
	t          *testing.T
	rtmp, http string // address:port
}

func startOrigin(t *testing.T) *origin {
	t.Helper()
	const module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
	for _, command := range []string{"nginx", "ffmpeg"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Fatalf("%s is not installed: make setup", command)
		}
	}
	if _, err := os.Stat(module); err != nil {
		t.Fatal("nginx has no RTMP module: make setup installs it")
	}
	o := &origin{t: t, rtmp: free(t), http: free(t)}
	dir := t.TempDir()
	conf := strings.NewReplacer("MODULE", module, "DIR", dir, "RTMP", o.rtmp, "HTTP", o.http).Replace(`load_module MODULE;
daemon off;
pid DIR/nginx.pid;
error_log DIR/error.log error;
events { worker_connections 256; }
rtmp { access_log off; server { listen RTMP; chunk_size 4096; application live { live on; idle_streams off; } } }
http { access_log off; server { listen HTTP; location /stat { rtmp_stat all; } } }
`)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	o.run("nginx", "-p", dir, "-c", path, "-e", filepath.Join(dir, "error.log"))
	o.await("nginx listens", func() bool {
		c, err := net.Dial("tcp", o.rtmp)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return o
}

// free is a port of loopback that nobody has now.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// run starts a program that ends with the test.
func (o *origin) run(argv ...string) *os.Process {
	o.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGCONT)
		cmd.Process.Signal(syscall.SIGTERM)
		time.AfterFunc(2*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
	})
	return cmd.Process
}

// publish sends a small moving picture.
func (o *origin) publish(name string) *os.Process {
	return o.run("ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=25",
		"-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1", "-g", "25", "-b:v", "100k",
		"-pix_fmt", "yuv420p", "-t", "60", "-f", "flv", o.url(name))
}

func (o *origin) url(name string) string { return "rtmp://" + o.rtmp + "/live/" + name }

func (o *origin) await(what string, so func() bool) {
	o.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if so() {
			return
		}
	}
	o.t.Fatalf("%s: not within 20 s", what)
}

// sink keeps what is recorded.
type sink struct {
	mu      sync.Mutex
	rows    []recording.Row
	samples map[string]int
}

func (s *sink) Sample(_ recording.Time, name string, l recording.Labels, _ float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.samples == nil {
		s.samples = map[string]int{}
	}
	s.samples[name+" "+l["stream"]]++
}

func (s *sink) Append(r recording.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, r)
}

// find returns the last event of a kind and stream, and the last coverage row of a
// measure.
func (s *sink) event(kind, stream string) (found recording.Event, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rows {
		if e, is := r.(recording.Event); is && e.Kind == kind && e.Subject.Name == stream {
			found, ok = e, true
		}
	}
	return found, ok
}

func (s *sink) coverage(measure string) (found recording.Coverage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rows {
		if c, is := r.(recording.Coverage); is && c.Probe == measure {
			found = c
		}
	}
	return found
}

// Streams of a real server, found by its stat page: one publisher stands still for
// a while, and that is told in time, of it alone.
func TestWatchOfARealServer(t *testing.T) {
	o := startOrigin(t)
	stops := o.publish("stops")
	o.publish("runs")
	d, err := watch.ParseDiscovery("nginx:http://" + o.http + " url=rtmp://" + o.rtmp + "/{app}/{stream}")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	told := map[string]watch.Happened{}
	var recorded sink
	w := watch.New(watch.Options{Open: Open, Anchor: probe.NewAnchor(), Every: ReadEvery, Sink: &recorded, Tell: func(h watch.Happened) {
		mu.Lock()
		defer mu.Unlock()
		if h.Kind == recording.EventStreamFreeze && !h.Doubt {
			told[fmt.Sprint(h.Stream, " ", h.Phase)] = h
		}
	}})
	has := func(what string) bool {
		mu.Lock()
		defer mu.Unlock()
		_, ok := told[what]
		return ok
	}
	o.await("both are published", func() bool {
		entries, _, err := d.Ask(context.Background())
		w.Set("nginx", entries)
		return err == nil && len(entries) == 2
	})
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { w.Run(ctx) })
	defer done.Wait()
	defer cancel()
	o.await("both are well", func() bool { s := w.Snapshot(); return s.States[watch.OK] == 2 })

	if err := stops.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	o.await("the freeze is told", func() bool { return has("live/stops begun") })
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("a freeze of 1 s was told after %s", took)
	}
	time.Sleep(time.Second)
	stood := time.Since(began)
	if err := stops.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	o.await("its end is told", func() bool { return has("live/stops ended") })
	mu.Lock()
	e := told["live/stops ended"]
	mu.Unlock()
	if e.Value < 0.7*stood.Seconds() || e.Value > 1.5*stood.Seconds()+0.5 {
		t.Errorf("frozen for %.2f s; it stood for %.2f s", e.Value, stood.Seconds())
	}
	if e.Pattern != figures.Held {
		t.Errorf("a publisher that was stopped and then sent what it had: %q", e.Pattern)
	}
	if row, ok := recorded.event(recording.EventStreamFreeze, "live/stops"); !ok || row.Value != e.Value {
		t.Errorf("recorded as %+v", row)
	}
	if has("live/runs begun") {
		t.Error("the other stream froze too")
	}
	if n := recorded.samples["snag_stream_frames_total live/runs"]; n < 2 {
		t.Errorf("%d samples", n)
	}
}

func TestProbe(t *testing.T) {
	var off sink
	env := &probe.Env{Anchor: probe.NewAnchor(), Sink: &off, Notice: func(string) {}}
	r, err := start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	r.Stop()
	if c := off.coverage("streams"); c.State != recording.CoverageOff || c.Cure == "" {
		t.Errorf("nobody asked: %+v", c)
	}

	o := startOrigin(t)
	o.publish("cam")
	var on sink
	env = &probe.Env{
		Proc: "/proc", Anchor: probe.NewAnchor(), Sink: &on, Notice: func(string) {},
		Streams: []string{o.url("nobody")}, Layers: "origin=" + o.url("cam") + ",edge=" + o.url("cam") + "?again=1",
	}
	o.await("it is published", func() bool {
		d, err := watch.ParseDiscovery("nginx:http://" + o.http)
		if err != nil {
			t.Fatal(err)
		}
		entries, _, err := d.Ask(context.Background())
		return err == nil && len(entries) == 1
	})
	if r, err = start(context.Background(), env); err != nil {
		t.Fatal(err)
	}
	o.await("frames are matched", func() bool {
		on.mu.Lock()
		defer on.mu.Unlock()
		for _, r := range on.rows {
			if h, ok := r.(recording.StreamHop); ok && h.Matched > 5 && h.From == "origin" && h.To == "edge" {
				return true
			}
		}
		return false
	})
	r.Stop()
	c := on.coverage(measureFigures)
	if c.State != recording.CoveragePartial || !strings.Contains(c.Why, "no frame of 1 of 3 streams") {
		t.Errorf("%+v", c)
	}
	if c := on.coverage(measureLayers); c.State != recording.CoveragePartial && c.State != recording.CoverageOK {
		t.Errorf("%+v", c)
	}
	if _, err := start(context.Background(), &probe.Env{Sink: &on, Streams: []string{"gopher://x/y"}}); err == nil {
		t.Error("a URL that nobody reads was taken")
	}
}

func TestOpenFindsTheReader(t *testing.T) {
	for _, raw := range []string{
		"rtmp://h/a/b", "RTMPS://h/a/b", "rtsp://h/x", "rtsp+udp://h/x", "rtp://:5004?codec=H264", "sdp:///x.sdp",
		"udp://239.0.0.1:5000", "http://h/live/x.m3u8?token=1", "https://h/X.M3U8", "srt://h:9000?streamid=x", "ps+udp://:30000", "http://h/x.flv", "ffprobe+rtmp://h/a/b",
	} {
		e, err := watch.NewEntry(raw, "")
		if err != nil {
			t.Fatal(err)
		}
		if open, err := Open(e.URL); err != nil || open == nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
	e, err := watch.NewEntry("gopher://h/x", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(e.URL); err == nil || !strings.Contains(err.Error(), "rtmp://…") || !strings.Contains(err.Error(), "https://….m3u8") || !strings.Contains(err.Error(), "srt://…") {
		t.Errorf("%v", err)
	}
}
