package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/lab/origin"
)

// A wake-up costs as much as what is read in it: one stream that is read 50 times a
// second wakes snag some 60 times per second. With a timer of Go for each reader, and one
// for snag's own lateness, it was 600 times.
func TestWatchOfOneStreamSeldomWakes(t *testing.T) {
	dir, command, server, here := aloneAtServer(t)
	if !here {
		return
	}
	url := origin.URL(server, "cam")
	beside(t, "ffmpeg", "-nostdin", "-loglevel", "quiet", "-re", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=25",
		"-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1", "-g", "25", "-pix_fmt", "yuv420p", "-t", "90", "-f", "flv", url)
	frames := filepath.Join(dir, "frames")
	snag := beside(t, command, "watch", "--plain", "--frames", frames, url)
	lines := func() int {
		b, _ := os.ReadFile(frames)
		return strings.Count(string(b), "\n")
	}
	within(t, "the stream is read", func() bool { return lines() > 50 })
	const window = 6 * time.Second
	began, waits, read := time.Now(), waitsOf(t, snag.Process.Pid), lines()
	time.Sleep(window)
	waits, read = waitsOf(t, snag.Process.Pid)-waits, lines()-read
	rate := float64(waits) / time.Since(began).Seconds()
	t.Logf("%.0f waits per second, %d frames read", rate, read)
	if read < 75 {
		t.Errorf("%d frames in %s", read, window)
	}
	if rate < 20 || rate > 200 {
		t.Errorf("its threads waited %.0f times per second", rate)
	}
}

// waitsOf is how often the threads of a process gave up their CPU to wait, since they
// began (proc_pid_status(5)).
func waitsOf(t *testing.T, pid int) (sum int) {
	t.Helper()
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(all) == 0 {
		t.Fatalf("threads of %d: %v", pid, err)
	}
	for _, path := range all {
		b, _ := os.ReadFile(path) // a thread may have ended
		_, rest, _ := strings.Cut(string(b), "\nvoluntary_ctxt_switches:")
		n, _ := strconv.Atoi(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]))
		sum += n
	}
	return sum
}
