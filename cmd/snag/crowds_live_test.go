package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/internal/cli"
)

const (
	// A find of an ordinary host takes some 60 MB, of them 30 the tables of the kernel.
	mostMemory = 160 << 20
	// Nor does it take longer than it was told to by more than a busy machine does.
	mostLonger = 40 * time.Second
	mostFolder = 60 << 20
)

// crowd compiles a program of testdata/inside and starts it; it ends with the test.
func crowd(t *testing.T, name, arg string) int {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("BPF programs need root")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Fatal("needs gcc: make setup")
	}
	bin := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("gcc", "-O1", "-o", bin, filepath.Join("testdata", "inside", name+".c"), "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	cmd := exec.Command(bin, arg)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%s says %q (%v)", name, line, err)
	}
	return cmd.Process.Pid
}

// bounded runs snag and holds it against the bounds; window is what it was told to take.
func bounded(t *testing.T, window time.Duration, args ...string) string {
	t.Helper()
	cmd := exec.Command("snag", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(3*mostLonger, func() { _ = cmd.Process.Kill() })
	peak := peakOf(cmd.Process.Pid)
	err := cmd.Wait()
	memory := <-peak
	guard.Stop()
	took := time.Since(began)
	t.Logf("snag %s: %.1f s, %.1f s of CPU, %d MB", args[0], took.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), memory>>20)
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != cli.ExitCulprit && code != cli.ExitCantTell {
		t.Errorf("snag %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	if memory > mostMemory {
		t.Errorf("snag %s took %d MB", args[0], memory>>20)
	}
	if took > window+mostLonger {
		t.Errorf("snag %s took %s", args[0], took)
	}
	return out.String()
}

// peakOf is the most memory that a process had, until it ends. The maximum of getrusage(2) is at least that of who
// started it: exec takes it over (exec_mmap in fs/exec.c), and this test's program has more at times.
func peakOf(pid int) <-chan int64 {
	out := make(chan int64, 1)
	go func() {
		most := int64(0)
		for {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, at, has := strings.Cut(string(text), "VmHWM:")
			if err != nil || !has { // it has ended
				out <- most
				return
			}
			var kB int64
			if _, err := fmt.Sscan(at, &kB); err == nil {
				most = max(most, kB<<10)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return out
}

func says(t *testing.T, out string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("nothing of %q in:\n%s", w, out)
		}
	}
}

func folder(t *testing.T, dir string) {
	t.Helper()
	size := int64(0)
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil || size > mostFolder {
		t.Errorf("%s holds %d MB (%v)", dir, size>>20, err)
	}
}

// TestThousandsOfThreads: of a process with 5,000 threads snag takes what it can and
// says what it left.
func TestThousandsOfThreads(t *testing.T) {
	t.Parallel()
	pid := fmt.Sprint(crowd(t, "many", "5000"))
	dir := t.TempDir()
	found := filepath.Join(dir, "find")
	bounded(t, 4*time.Second, "find", "-q", "--pid", pid, "--for", "4s", "--out", found)
	folder(t, found)
	says(t, bounded(t, 0, "show", found), "threads.state", "256 threads")
	stuck := bounded(t, 2*time.Second, "blocked", "--pid", pid)
	says(t, stuck, "threads of 1 process", "idle threads wait for work: ")
	if strings.Contains(stuck, "DEADLOCK") { // the lock only went on meanwhile
		t.Errorf("a deadlock of a lock that is handed on:\n%s", stuck)
	}
	says(t, bounded(t, 2*time.Second, "syscalls", "-q", "--pid", pid, "--for", "2s", "--out", filepath.Join(dir, "calls")), "clock_nanosleep", "more: --top")
	says(t, bounded(t, 2*time.Second, "profile", "-q", "--off", "--pid", pid, "--for", "2s", "--out", filepath.Join(dir, "profile")), "body", "of waits in all threads together")
	folder(t, dir)
}

// TestStormOfForks: processes that begin and end by the thousand are counted, none is
// waited for, and a closer look at them stays within bounds. Not beside other tests:
// some of them measure time.
func TestStormOfForks(t *testing.T) {
	pid := fmt.Sprint(crowd(t, "storm", "100"))
	dir := t.TempDir()
	bounded(t, 2*time.Second, "find", "-q", "--for", "2s", "--out", filepath.Join(dir, "find"))
	says(t, bounded(t, time.Second, "syscalls", "-q", "--pid", pid, "--for", "1s", "--out", filepath.Join(dir, "calls")), "clone", "wait4")
	says(t, bounded(t, time.Second, "profile", "-q", "--all", "--for", "1s", "--out", filepath.Join(dir, "profile")), "storm[")
	folder(t, dir)
}
