package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"snag/lab/origin"
)

// A publisher on this host is stopped: the watch's own recording of the host names
// it, to standard output, the webhook, and the command, which waited for it.
func TestWatchOnTheHost(t *testing.T) {
	if err := origin.Check(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("not root: sockets of others can't be seen")
	}
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	server := loopback(t)
	if err := os.WriteFile(file("nginx.conf"), []byte(origin.Config(dir, server)), 0o600); err != nil {
		t.Fatal(err)
	}
	beside(t, "nginx", "-p", dir, "-c", file("nginx.conf"), "-e", file("error.log"))
	within(t, "nginx listens", func() bool {
		c, err := net.Dial("tcp", server)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	sick := beside(t, "ffmpeg", "-nostdin", "-loglevel", "quiet", "-re", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=25",
		"-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1", "-g", "25", "-b:v", "100k",
		"-pix_fmt", "yuv420p", "-t", "90", "-f", "flv", origin.URL(server, "sick"))

	type post struct {
		Event, Stream, Culprit, Subject, Verdict, Recording string
		Confidence                                          float64
	}
	var mu sync.Mutex
	var posts []post
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var p post
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		posts = append(posts, p)
	}))
	defer hook.Close()
	if err := os.WriteFile(file("act"), []byte("#!/bin/sh\necho \"$SNAG_EVENT $SNAG_STREAM $SNAG_CULPRIT\" >> "+file("acted")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("snag", "watch", "--host", "--json", "--webhook", hook.URL, "--on-freeze", file("act"),
		origin.URL(server, "sick"))
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	type line struct{ Type, Event, Stream, Culprit, Subject, Text, Recording string }
	lines := make(chan line, 10000)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			var l line
			if err := json.Unmarshal(s.Bytes(), &l); err != nil {
				t.Errorf("%v: %s", err, s.Text())
			}
			lines <- l
		}
	}()
	next := func(what string, want func(line) bool) line {
		t.Helper()
		for end := time.After(60 * time.Second); ; {
			select {
			case l, ok := <-lines:
				if !ok {
					t.Fatalf("%s: never; %s", what, stderr.String())
				}
				if want(l) {
					return l
				}
			case <-end:
				t.Fatalf("%s: not within a minute", what)
			}
		}
	}
	next("the first frame", func(l line) bool { return l.Event == "first-frame" && l.Stream == "live/sick" })
	time.Sleep(4 * time.Second) // of the stream as it is when it is well
	if err := sick.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	next("the freeze", func(l line) bool { return l.Event == "freeze" && l.Stream == "live/sick" })
	verdict := next("the verdict", func(l line) bool { return l.Type == "verdict" })
	who := fmt.Sprintf("ffmpeg[%d]", sick.Process.Pid)
	if verdict.Stream != "live/sick" || verdict.Culprit == "" || !strings.Contains(verdict.Subject, who) || !strings.Contains(verdict.Text, who) {
		judged, _ := exec.Command("snag", "judge", verdict.Recording).CombinedOutput() // what it says is shown
		t.Errorf("%+v, want a culprit that is %s\n%s", verdict, who, judged)
	}
	within(t, "the webhook and the command know", func() bool {
		mu.Lock()
		defer mu.Unlock()
		b, _ := os.ReadFile(file("acted")) // not there yet is empty
		return len(posts) >= 2 && posts[len(posts)-1].Event == "verdict" && strings.Contains(string(b), "freeze live/sick "+verdict.Culprit)
	})
	mu.Lock()
	if p := posts[0]; p.Event != "freeze" || p.Culprit != "" {
		t.Errorf("the first post is %+v", p)
	}
	if p := posts[len(posts)-1]; p.Stream != "live/sick" || p.Culprit != verdict.Culprit || p.Confidence <= 0 || p.Recording != verdict.Recording {
		t.Errorf("the last post is %+v, want %+v", p, verdict)
	}
	mu.Unlock()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if stderr.Len() > 0 {
		t.Error(stderr.String())
	}
	out, _ := exec.Command("snag", "judge", "--json", verdict.Recording).Output() // exits 10, having a culprit
	if !strings.Contains(string(out), verdict.Culprit) {
		t.Errorf("the recording that was judged is not kept: %.200s", out)
	}
	if left, _ := filepath.Glob(file("snag-watch-host-*/*")); len(left) != 1 {
		t.Errorf("%v are left", left)
	}
}
