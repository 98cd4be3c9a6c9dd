package strace

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// A file that was cut anywhere has all calls of its whole lines, and no other.
func TestAFileThatWasCutHasTheRest(t *testing.T) {
	text := relayTrace(8 << 10)
	for cut := len(text); cut > len(text)-400; cut -= 7 {
		part := text[:cut]
		got := countsOf(part)
		want := countsOf(part[:bytes.LastIndexByte(part, '\n')+1])
		if got.Calls != want.Calls || got.Noise > want.Noise+1 {
			t.Errorf("cut after %d bytes: %+v, its whole lines have %+v", cut, got, want)
		}
	}
}

func countsOf(text []byte) Counts {
	tr := New(&sink{}, Options{})
	c := chunkOf(string(text))
	c.Cut = len(text) > 0 && text[len(text)-1] != '\n'
	for _, l := range parseChunk(c, nil, nil) {
		tr.Line(&l)
	}
	return tr.End()
}

// What -p writes to standard error names threads only while there are several.
func TestAttachedToARunningProcess(t *testing.T) {
	const server = `
import os, threading, time
def work():
    r, w = os.pipe()
    for i in range(400):
        os.write(w, b"x"); os.read(r, 1); time.sleep(0.002)
print("ready", flush=True)
time.sleep(1)
threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
for i in range(20): os.getppid(); time.sleep(0.01)
`
	cmd := exec.Command(python, "-c", server)
	printed, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := printed.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "stderr")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	tracer := exec.Command("strace", "-f", "-tt", "-T", "-p", strconv.Itoa(cmd.Process.Pid))
	tracer.Stderr = out
	if err := tracer.Start(); err != nil {
		t.Fatalf("strace (make setup installs it): %v", err)
	}
	_ = tracer.Wait()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"[pid ", " attached\n"} {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("the trace has no %q", part)
		}
	}
	r, c := trace(t, Options{}, string(text))
	// strace may say something in the middle of a line, where a new thread begins; and
	// there is the call that the program was in.
	if c.Noise > 2 || c.Orphans > 3 {
		t.Errorf("%+v", c)
	}
	var reads, writes uint64
	pids, tids := map[int]bool{}, map[int]bool{}
	for _, row := range r.Calls {
		pids[row.PID], tids[row.TID] = true, true
		switch row.Call {
		case "read":
			reads += row.N
		case "write":
			writes += row.N
		}
	}
	if reads < 1198 || reads > 1200 || writes < 1198 || writes > 1200 || len(pids) != 1 || len(tids) != 4 {
		t.Errorf("%d reads and %d writes, want 1200 each, or one or two fewer; processes %v, threads %v", reads, writes, pids, tids)
	}
}

// strace -c writes a table and no call.
func TestTheTableOfStraceC(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	if out, err := exec.Command("strace", "-f", "-c", "-o", path, "ls", "/nowhere").CombinedOutput(); len(out) == 0 {
		t.Fatalf("strace (make setup installs it): %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := read(t, Options{Begin: 1e18}, path)
	for call, w := range summary(t, string(text)) {
		if g := got[call]; call != "total" && (g.n != w.n || g.errs != w.errs) {
			t.Errorf("%s: %d calls, %d errors, the table has %d and %d", call, g.n, g.errs, w.n, w.errs)
		}
	}
}

// A process that is stopped and goes on makes its call again.
func TestACallThatIsMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", "-f", "-ttt", "-T", "-C", "-o", path, "sleep", "1.5")
	if err := cmd.Start(); err != nil {
		t.Fatalf("strace (make setup installs it): %v", err)
	}
	strace := strconv.Itoa(cmd.Process.Pid)
	var pid int
	waitUntil(t, "the child is in its call", func() bool {
		children, _ := os.ReadFile("/proc/" + strace + "/task/" + strace + "/children")
		pid, _ = strconv.Atoi(string(bytes.TrimSpace(children)))
		return pid != 0 && waitsIn(pid, "nanosleep")
	})
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	waitUntil(t, "the child is stopped", func() bool { return waitsIn(pid, "ptrace_stop", "do_signal_stop") })
	_ = syscall.Kill(pid, syscall.SIGCONT)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, c := read(t, Options{Begin: 1e18}, path)
	want := summary(t, string(text))
	for _, call := range []string{"restart_syscall", "clock_nanosleep"} {
		if got[call].n != want[call].n || want[call].n == 0 {
			t.Errorf("%s: %d, strace has %d", call, got[call].n, want[call].n)
		}
	}
	if c.Noise > 0 || c.Orphans > 0 {
		t.Errorf("%+v", c)
	}
}

// A length that cannot be true costs no more than an hour's worth of seconds.
func TestACallOfYears(t *testing.T) {
	began := time.Now()
	r, _ := trace(t, Options{}, "1 1700000000.000000 read(3, \"x\", 1) = 1 <3999999999.000000>\n1 1700000001.000000 getpid() = 1 <0.000001>")
	if len(r.Calls) > 2*mostQuiet || time.Since(began) > 5*time.Second {
		t.Errorf("%d rows in %v", len(r.Calls), time.Since(began))
	}
}

// waitsIn tells whether a process waits in one of these functions of the kernel.
func waitsIn(pid int, functions ...string) bool {
	at, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/wchan")
	return slices.ContainsFunc(functions, func(f string) bool { return bytes.Contains(at, []byte(f)) })
}

func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 2000 {
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("not within 10 s: %s", what)
}
