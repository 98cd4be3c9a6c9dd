package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/watch"
	"snag/recording"
)

// inside is a network namespace with an nginx-rtmp that a publisher sends to and a
// player reads from.
type inside struct {
	t    *testing.T
	name string
}

func newInside(t *testing.T) *inside {
	t.Helper()
	const module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
	if os.Getuid() != 0 {
		t.Skip("needs root to make a network namespace")
	}
	if _, err := os.Stat(module); err != nil {
		t.Fatalf("nginx-rtmp: %v: make setup installs it", err)
	}
	in := &inside{t, fmt.Sprintf("snagp%d", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", in.name).CombinedOutput(); err != nil {
		t.Fatalf("ip netns add: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", in.name).Run() })
	if out, err := exec.Command("ip", "-n", in.name, "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("set lo up: %v: %s", err, out)
	}
	dir := t.TempDir()
	conf := fmt.Sprintf(`load_module %s;
user root; daemon off; master_process off; pid %[2]s/pid; error_log %[2]s/error.log;
events {}
rtmp { server { listen 1935; application live { live on; } } }
http { access_log off; server { listen 8080; location /stat { rtmp_stat all; } } }
`, module, dir)
	name := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(name, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	in.start("nginx", "-p", dir, "-c", name)
	time.Sleep(300 * time.Millisecond)
	return in
}

// start runs a program inside until the test ends.
func (in *inside) start(argv ...string) *exec.Cmd {
	in.t.Helper()
	c := exec.Command("ip", append([]string{"netns", "exec", in.name}, argv...)...) // ip becomes the program
	if err := c.Start(); err != nil {
		in.t.Fatal(err)
	}
	in.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

// publish sends pictures that no other stream has: alike ones can't be told apart.
func (in *inside) publish(stream string, seed int) *exec.Cmd {
	return in.start("ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", fmt.Sprintf("testsrc2=size=320x180:rate=25,noise=alls=20:allf=t:all_seed=%d", seed), "-f", "lavfi", "-i", "sine",
		"-t", "60", "-c:v", "libx264", "-preset", "ultrafast", "-b:v", "400k", "-g", "25", "-c:a", "aac", "-f", "flv", "rtmp://127.0.0.1/live/"+stream)
}

func (in *inside) play(stream string) *exec.Cmd {
	return in.start("ffmpeg", "-v", "quiet", "-i", "rtmp://127.0.0.1/live/"+stream, "-c", "copy", "-f", "null", "-")
}

// watched runs a watch until so says that it saw enough, or 12 s.
func watched(t *testing.T, f watchFlags, so func([]watch.Row) bool) []watch.Row {
	t.Helper()
	f.plain, f.most, f.perSecond, f.timeout = true, 50, 10, 5*time.Second
	s, err := newWatching(f)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 12*time.Second)
	defer stop()
	go func() {
		for ctx.Err() == nil {
			time.Sleep(200 * time.Millisecond)
			if so(s.watcher.Snapshot().Rows) {
				stop()
			}
		}
	}()
	if err := s.run(ctx); err != nil {
		t.Fatal(err)
	}
	rows := s.watcher.Snapshot().Rows
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func count(rows []watch.Row, is func(watch.Row) bool) (n int) {
	for _, r := range rows {
		if is(r) {
			n++
		}
	}
	return n
}

// Connections that were there before the capture, in a namespace: the reader is
// found to be the publisher's by its frames, and both get their name once the
// stream is read beside them, from what nginx's stat page lists.
func TestPassiveInANamespace(t *testing.T) {
	t.Parallel()
	in := newInside(t)
	in.publish("cam1", 1)
	in.publish("cam2", 2)
	time.Sleep(700 * time.Millisecond)
	in.play("cam1")
	in.play("cam2")
	time.Sleep(2500 * time.Millisecond)

	of := func(r watch.Row) bool { return r.Side == recording.StreamSideConsumer && r.Kin.Publisher != "" }
	rows := watched(t, watchFlags{passive: true, netns: in.name}, func(rows []watch.Row) bool { return count(rows, of) == 2 })
	publishers := map[string]string{}
	for _, r := range rows {
		if r.Side == recording.StreamSidePublisher {
			publishers[r.Kin.Publisher] = r.Name
		}
		if r.Second.Skew.OK {
			t.Errorf("%s: A/V is told as %v", r.Name, r.Second.Skew.V)
		}
		if r.Kin.Name != "" {
			t.Errorf("%s: nothing told the name %s", r.Name, r.Kin.Name)
		}
	}
	readers := map[string]bool{}
	for _, r := range rows {
		if r.Side != recording.StreamSideConsumer {
			continue
		}
		readers[r.Kin.Publisher] = true
		if p := publishers[r.Kin.Publisher]; p == "" || !strings.HasPrefix(r.Name, p+" → 127.0.0.1:") || r.Kin.Matched < 3 {
			t.Errorf("reader %s: %+v", r.Name, r.Kin)
		}
	}
	if len(publishers) != 2 || len(readers) != 2 || len(rows) != 4 {
		t.Fatalf("%d rows, publishers %v, readers of %v", len(rows), publishers, readers)
	}

	dir := filepath.Join(t.TempDir(), "rec")
	named := func(r watch.Row) bool { return r.Unnamed && r.Kin.Name != "" && r.Kin.Publisher != "" }
	rows = watched(t, watchFlags{passive: true, netns: in.name, out: dir, discover: []string{"nginx:http://127.0.0.1:8080/stat"}},
		func(rows []watch.Row) bool { return count(rows, named) == 4 })
	names := map[string]int{}
	for _, r := range rows {
		name, _, _ := strings.Cut(r.Name, " → ")
		names[r.Side+" "+name]++
	}
	for _, want := range []string{"player live/cam1", "publisher live/cam1", "consumer live/cam1", "player live/cam2", "publisher live/cam2", "consumer live/cam2"} {
		if names[want] != 1 {
			t.Errorf("%d of %s: %v", names[want], want, names)
		}
	}
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, row := range r.Streams {
		if row.NamedBy == "frames" && row.Was != "" && row.Publisher != "" && row.Matched >= 3 && strings.HasPrefix(row.Name, "live/cam") {
			told++
		}
		if row.Netns == 0 {
			t.Errorf("%s: no namespace", row.Name)
		}
	}
	if told < 4 {
		t.Errorf("the recording tells of %d connections how they were named: %+v", told, r.Streams)
	}
}
