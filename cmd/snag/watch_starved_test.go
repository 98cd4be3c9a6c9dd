package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/lab/origin"
)

// Fifty streams are well, and snag gets 30 ms of CPU every 1.3 s, as on a host that is
// far too small. What it reads late is told as its own lateness, never as a freeze, a
// skip or a slow encoder of the streams.
func TestWatchThatIsStarved(t *testing.T) {
	if err := origin.Check(); err != nil {
		t.Fatal(err)
	}
	// Not beside others: whom it stops is a true culprit to whoever looks at the machine.
	const streams = 50
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	server := loopback(t)
	if err := os.WriteFile(file("nginx.conf"), []byte(origin.Config(dir, server)), 0o600); err != nil {
		t.Fatal(err)
	}
	// The streams go before whoever else is on this machine.
	first := func(argv ...string) *exec.Cmd { return beside(t, append([]string{"nice", "-n", "-10"}, argv...)...) }
	first("nginx", "-p", dir, "-c", file("nginx.conf"), "-e", file("error.log"))
	within(t, "nginx listens", func() bool {
		c, err := net.Dial("tcp", server)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	var to, urls []string
	for i := range streams {
		urls = append(urls, origin.URL(server, fmt.Sprintf("cam%d", i)))
		to = append(to, "[f=flv]"+urls[i])
	}
	first("ffmpeg", "-nostdin", "-loglevel", "quiet", "-re", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=25",
		"-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1", "-g", "25", "-b:v", "60k",
		"-pix_fmt", "yuv420p", "-t", "90", "-map", "0:v", "-f", "tee", strings.Join(to, "|"))
	cmd := exec.Command("snag", append([]string{"watch", "--json", "--connects", "500"}, urls...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	type line struct {
		Type, Stream, Event, Phase, Text string
		Start                            time.Time
		Doubt                            bool
		Worst                            float64 `json:"own_worst_late_seconds"`
	}
	frames := make(chan string, 100*streams)
	said := make(chan []line, 1)
	go func() {
		var all []line
		for s := bufio.NewScanner(stdout); s.Scan(); {
			var l line
			if err := json.Unmarshal(s.Bytes(), &l); err != nil {
				t.Errorf("%v: %s", err, s.Text())
			}
			if l.Event == "first-frame" {
				frames <- l.Stream
			}
			all = append(all, l)
		}
		said <- all
	}()
	began := map[string]bool{}
	for end := time.After(30 * time.Second); len(began) < streams; {
		select {
		case name := <-frames:
			began[name] = true
		case <-end:
			t.Fatalf("%d of %d streams gave a frame in 30 s: %s", len(began), streams, stderr.String())
		}
	}
	time.Sleep(2 * time.Second) // until all of them run evenly
	starved := time.Now()
	for range 4 {
		for _, step := range []struct {
			signal syscall.Signal
			wait   time.Duration
		}{{syscall.SIGSTOP, 1300 * time.Millisecond}, {syscall.SIGCONT, 30 * time.Millisecond}} {
			if err := cmd.Process.Signal(step.signal); err != nil {
				t.Fatal(err)
			}
			time.Sleep(step.wait)
		}
	}
	time.Sleep(2 * time.Second)            // it comes to itself, and tells what ended
	_ = cmd.Process.Signal(syscall.SIGINT) // what it said tells how it went
	all := <-said
	cmd.Wait()
	worst := 0.0
	for _, l := range all {
		worst = max(worst, l.Worst)
		switch l.Event {
		case "freeze", "skipped", "late", "slow", "jump", "ended":
			if !l.Doubt && l.Start.After(starved) {
				t.Errorf("%s %s %s: %s", l.Stream, l.Event, l.Phase, l.Text)
			}
		}
	}
	t.Logf("snag was late by %.2f s at the most", worst)
	if worst < 1 {
		t.Errorf("snag was late by %.2f s at the most, and was stopped for 1.3 s", worst)
	}
}
