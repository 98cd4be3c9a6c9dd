package recording

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// writeUntilKilled writes row and sample i every 5 ms and says on stdout what it
// has handed over ("row i") and what has been flushed ("safe rows samples").
func writeUntilKilled(dir string) error {
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf(format, args...)
	}
	m := manifest()
	m.Start = Time(time.Now().UnixNano())
	w, err := Create(dir, m, Options{onFlush: func(rows map[string]int, samples int) {
		say("safe %d %d\n", rows["processes"], samples)
	}})
	if err != nil {
		return err
	}
	for i := 1; ; i++ {
		at := Time(time.Now().UnixNano())
		w.Append(Process{T: at, PID: i, Comm: strings.Repeat("x", i%200)})
		for c := range 50 {
			w.Sample(at, "node_cpu_seconds_total", Labels{"cpu": fmt.Sprint(c)}, float64(i))
		}
		say("row %d %d\n", i, at)
		time.Sleep(5 * time.Millisecond)
	}
}

func TestKillLosesAtMostTheLastSecond(t *testing.T) {
	for run := range 5 {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			t.Parallel()
			killOnce(t, filepath.Join(t.TempDir(), "rec"), 2200*time.Millisecond+time.Duration(rand.Int63n(int64(time.Second))))
		})
	}
}

func killOnce(t *testing.T, dir string, after time.Duration) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=write", "SNAG_TEST_DIR="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() }) // SIGKILL
	defer timer.Stop()
	var last, lastT, safeRows, safeSamples int
	for in := bufio.NewScanner(out); in.Scan(); {
		var a, b int
		switch {
		case scan(in.Text(), "row %d %d", &a, &b):
			last, lastT = a, b
		case scan(in.Text(), "safe %d %d", &a, &b):
			safeRows, safeSamples = a, b
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended on its own")
	}
	before := tree(t, dir)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if after := tree(t, dir); after != before {
		t.Errorf("opening changed the recording:\n%s\nwas\n%s", after, before)
	}
	rows, points := len(r.Processes), 0
	for _, s := range r.Series {
		points += len(s.Points)
		for i, p := range s.Points {
			if p.V != float64(i+1) {
				t.Fatalf("%s: point %d is %v: a hole", s.Key(), i, p.V)
			}
		}
	}
	for i, p := range r.Processes {
		if p.PID != i+1 {
			t.Fatalf("row %d is that of %d: a hole", i, p.PID)
		}
	}
	if safeRows == 0 || rows < safeRows || points < safeSamples {
		t.Errorf("%d rows and %d samples are left of %d and %d that were flushed", rows, points, safeRows, safeSamples)
	}
	lost := Time(lastT).Sub(r.Processes[rows-1].T)
	t.Logf("killed after %v: %d of %d rows, %d samples; the last %v are lost; damage %q", after.Round(time.Millisecond), rows, last, points, lost.Round(time.Millisecond), r.Damage)
	// A second between flushes, and what this machine is late by: two are too many.
	if lost > 2*time.Second {
		t.Errorf("the last %v are lost, want at most about a second", lost)
	}
	if r.Manifest.End < r.Processes[rows-1].T || r.Manifest.End > Time(lastT) {
		t.Errorf("the end is %v, want the last time seen", r.Manifest.End)
	}
	// A lock that a dead writer left keeps nobody out.
	w, err := Create(dir, manifest(), Options{Replace: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func scan(line, format string, a, b *int) bool {
	n, err := fmt.Sscanf(line, format, a, b)
	return err == nil && n == 2
}

// tree lists names, sizes and times of change: what a reader must not touch.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := e.Info()
		if err == nil {
			fmt.Fprintf(&b, "%s %d %v\n", p, st.Size(), st.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
