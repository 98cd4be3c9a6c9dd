package jvm

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// classes is where the programs of testdata lie compiled, once for all tests: to
// compile takes a JVM longer than to start.
var classes string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("/var/tmp", "snag-jvm-test-") // a container of a test has a /tmp of its own
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	classes = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func compiled(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil {
		t.Fatal("there is no javac here: make setup installs it")
	}
	if _, err := os.Stat(classes + "/" + program + ".class"); err == nil {
		return
	}
	if out, err := exec.Command("javac", "-d", classes, "testdata/"+program+".java").CombinedOutput(); err != nil {
		t.Fatalf("javac %s: %v\n%s", program, err, out)
	}
}

// java starts testdata/Churn.java behind a command ("unshare …" or nothing) and
// waits until it runs; it ends with the test.
func java(t *testing.T, before []string, flags ...string) *exec.Cmd {
	t.Helper()
	return javaOf(t, "Churn", before, flags...)
}

func javaOf(t *testing.T, program string, before []string, flags ...string) *exec.Cmd {
	t.Helper()
	compiled(t, program)
	argv := append(append(before, "java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"), append(flags, "-cp", classes, program)...)
	c := exec.Command(argv[0], argv[1:]...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	})
	if lines := bufio.NewScanner(out); !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("%v said %q", argv, lines.Text())
	}
	return c
}

// pidOf is the java below a process: itself, or its child of that name.
func pidOf(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	for pid := c.Process.Pid; ; {
		if comm("/proc", pid) == "java" {
			return pid
		}
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid) + "/children")
		if fields := strings.Fields(string(b)); err == nil && len(fields) > 0 {
			pid, _ = strconv.Atoi(fields[0])
			continue
		}
		t.Fatalf("no java below process %d", c.Process.Pid)
	}
}

func run(t *testing.T, d time.Duration) *recording.Recording {
	t.Helper()
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Sink: sink, Watch: probe.NewWatch(100), Notice: sink.Notice}
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(d)
	r.Stop()
	return sink.Recording()
}

func TestJVMs(t *testing.T) {
	plain := java(t, nil, "-Dpassword=secret")
	none := java(t, nil, "-XX:-UsePerfData")
	var inside *exec.Cmd
	if os.Geteuid() == 0 { // a container's: /tmp and pids of its own
		inside = java(t, []string{"unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", `mount -t tmpfs none /tmp; "$@"`, "sh"})
	}
	r := run(t, 2500*time.Millisecond)
	jvms := []*exec.Cmd{plain}
	if inside != nil {
		jvms = append(jvms, inside)
	}
	for _, c := range jvms {
		pid := strconv.Itoa(pidOf(t, c))
		for _, name := range []string{"snag_jvm_safepoints_total", "snag_jvm_safepoint_seconds_total", "snag_jvm_application_seconds_total", "snag_jvm_gc_invocations_total"} {
			grown := 0.0
			for _, s := range r.Select(name, "pid", pid) {
				n, _ := s.Increase()
				grown += n
			}
			if grown <= 0 {
				t.Errorf("JVM %s: %s did not grow", pid, name)
			}
		}
		if heap := r.Select("snag_jvm_heap_max_bytes", "pid", pid); len(heap) != 1 || heap[0].Points[0].V != 64<<20 {
			t.Errorf("JVM %s: heap %+v, want 64 MiB", pid, heap)
		}
		if flags, _ := r.FactOf("jvm."+pid+".flags", 0); flags != "-Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1" {
			t.Errorf("JVM %s: flags %q", pid, flags)
		}
		seen := 0
		for _, e := range r.Events {
			if e.Kind != recording.EventGCPause || strconv.Itoa(e.Subject.PID) != pid {
				continue
			}
			seen++
			length := time.Duration(e.Value * float64(time.Second))
			if e.Attrs["cause"] != "System.gc()" || e.Value <= 0 || e.End.Sub(e.T) < length-time.Millisecond || e.End.Sub(e.T) > length+time.Millisecond {
				t.Errorf("event %+v", e)
			}
		}
		if seen < 2 {
			t.Errorf("JVM %s: %d collections seen", pid, seen)
		}
	}
	for _, f := range r.Facts {
		if strings.Contains(f.Value, "secret") {
			t.Errorf("fact %+v holds a property", f)
		}
	}
	c, ok := r.Measured("jvm.counters")
	if want := "java[" + strconv.Itoa(none.Process.Pid) + "]"; !ok || c.State != recording.CoveragePartial || !strings.Contains(c.Why, want) || c.Cure != cureFile {
		t.Errorf("coverage %+v, want it to tell of %s without counters", c, want)
	}
	if c.Cost <= 0 {
		t.Errorf("cost %v, want more than nothing", c.Cost)
	}
}

// TestLeftBehind: the file of a JVM that was killed may have the pid of another
// process by now.
func TestLeftBehind(t *testing.T) {
	dir := "/tmp/hsperfdata_snagtest" + strconv.Itoa(os.Getpid())
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	own := dir + "/" + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(own, []byte("left behind"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := finder{proc: "/proc"}
	for _, got := range f.search(nil) {
		got.file.Close()
		if got.pid == os.Getpid() {
			t.Errorf("took %s for this process' counters", got.path)
		}
	}
}

// TestOfBadFaith: what lies in /tmp is anybody's. A pipe must not block the probe,
// and a link must not lead it out.
func TestOfBadFaith(t *testing.T) {
	dir := "/tmp/hsperfdata_snagtest" + strconv.Itoa(os.Getpid())
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := unix.Mkfifo(dir+"/1", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", dir+"/2"); err != nil {
		t.Fatal(err)
	}
	f := finder{proc: "/proc"}
	for _, path := range []string{dir + "/1", dir + "/2"} {
		if file, err := f.open(os.Getpid(), path); err == nil {
			file.Close()
			t.Errorf("opened %s", path)
		}
	}
}
