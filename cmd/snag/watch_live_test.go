package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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

	"snag/internal/built"
	"snag/internal/cli"
	"snag/internal/netns/netnstest"
	"snag/lab/origin"
)

// loopback is a port of loopback that nobody has now.
func loopback(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// beside runs a program that ends with the test.
func beside(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Asked first: a master of nginx that is killed leaves its worker behind.
		cmd.Process.Signal(syscall.SIGCONT)
		cmd.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(3*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		late.Stop()
	})
	return cmd
}

// printing starts a command that prints into a file and ends with the test at the latest.
func printing(t *testing.T, cmd *exec.Cmd, path string) (stderr *bytes.Buffer) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() // the command has its own
	stderr = &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return stderr
}

func within(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if so() {
			return
		}
	}
	t.Fatalf("%s: not within 20 s", what)
}

// The command as it is used: a list that grows while it runs, a freeze of a real
// stream that calls a command and a webhook, metrics, a recording, Ctrl-C.
func TestWatchOfRealStreams(t *testing.T) {
	if err := origin.Check(); err != nil {
		t.Fatal(err)
	}
	if netnstest.Alone(t) { // its ports of loopback are nobody else's
		return
	}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(file(name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got := func(name string) string {
		b, _ := os.ReadFile(file(name)) // not there yet is empty
		return string(b)
	}
	built.Program(t, "snag", file("snag"))
	server, metrics := loopback(t), loopback(t)
	put("nginx.conf", origin.Config(dir, server))
	beside(t, "nginx", "-p", dir, "-c", file("nginx.conf"), "-e", file("error.log"))
	within(t, "nginx listens", func() bool {
		c, err := net.Dial("tcp", server)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	publish := func(name string) *exec.Cmd {
		return beside(t, "ffmpeg", "-nostdin", "-loglevel", "quiet", "-re", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=25",
			"-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1", "-g", "25", "-b:v", "100k",
			"-pix_fmt", "yuv420p", "-t", "90", "-f", "flv", origin.URL(server, name))
	}
	stops := publish("stops")
	publish("runs")

	var mu sync.Mutex
	var posts []string
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var p struct{ Event, Stream string }
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		posts = append(posts, p.Event+" "+p.Stream)
	}))
	defer hook.Close()
	put("act", "#!/bin/sh\necho \"$SNAG_EVENT $SNAG_STREAM\" >> "+file("acted")+"\necho it did not help\nexit 7\n")
	put("cams.txt", origin.URL(server, "stops")+" name=First\n")
	cmd := exec.Command(file("snag"), "watch", "--list", file("cams.txt"), "--listen", metrics, "--out", file("rec"),
		"--frames", file("frames.jsonl"), "--on-freeze", file("act"), "--webhook", hook.URL)
	stderr := printing(t, cmd, file("out"))
	has := func(texts ...string) func() bool {
		return func() bool {
			for _, text := range texts {
				if !strings.Contains(got("out"), text) {
					return false
				}
			}
			return true
		}
	}
	within(t, "the first stream is read", has("First  first frame after"))
	put("cams.txt", origin.URL(server, "stops")+" name=First\n"+origin.URL(server, "runs")+" name=Second\nnonsense\n")
	within(t, "the list is read again", has("cams.txt:3: nonsense has no protocol", "Second  first frame after"))
	if err := stops.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	within(t, "the freeze is told and acted on", has("First  FROZEN since", "--on-freeze: First: called, frozen for", "exit status 7; it printed: it did not help"))
	if page := scrape(t, metrics); !strings.Contains(page, `snag_stream_up{layer="",side="player",stream="First"} 0`) ||
		!strings.Contains(page, `snag_stream_up{layer="",side="player",stream="Second"} 1`) {
		t.Errorf("metrics:\n%s", page)
	}
	if err := stops.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	within(t, "its end is told", has("First  frames again: frozen for"))
	within(t, "the webhook has both", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(posts) >= 2 && posts[0] == "freeze First" && posts[len(posts)-1] == "well First"
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitCulprit || stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
	if acted := strings.Fields(got("acted")); len(acted) < 2 || acted[0] != "freeze" || acted[1] != "First" {
		t.Errorf("the command was called for %q", acted)
	}
	frames := got("frames.jsonl")
	if n := strings.Count(frames, `"stream":"First"`); n < 25 || !strings.HasSuffix(frames, "\n") {
		t.Errorf("%d frames are logged", n)
	}
	out, err := exec.Command(file("snag"), "show", "--table", "events", file("rec")).Output()
	if err != nil || !strings.Contains(string(out), `"kind":"stream-freeze"`) {
		t.Errorf("the recording has no freeze: %v\n%s", err, out)
	}
}

func scrape(t *testing.T, addr string) string {
	t.Helper()
	resp, err := http.Get(fmt.Sprintf("http://%s/metrics", addr))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
