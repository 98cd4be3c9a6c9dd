package threads

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/probe"
	"snag/recording"
)

type memory struct {
	mu      sync.Mutex
	rec     recording.Recording
	samples map[string]int
}

func (m *memory) Sample(_ recording.Time, name string, _ recording.Labels, _ float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples[name]++
}

func (m *memory) Append(row recording.Row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rec.Add(row)
}

func watch(t *testing.T, pids ...int) *memory {
	t.Helper()
	m := &memory{samples: map[string]int{}}
	env := &probe.Env{
		Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Sink: m,
		Watch: probe.NewWatch(100), Notice: func(string) {},
	}
	for _, p := range pids {
		env.Watch.Add(p, "test")
	}
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	return m
}

// TestMain is also the child: it blocks in a call on a full socket.
func TestMain(m *testing.M) {
	if os.Getenv("THREADS_BLOCK") != "" {
		block()
		return
	}
	if os.Getenv("THREADS_CONVOY") != "" {
		convoy()
		return
	}
	if os.Getenv("THREADS_UNPRIVILEGED") != "" {
		unprivileged()
		return
	}
	os.Exit(m.Run())
}

// block fills a TCP connection that nobody reads, says on which descriptor, and
// stays in write.
func block() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: l.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		fmt.Println("error", err)
		return
	}
	go func() {
		for {
			if _, err := unix.Write(fd, make([]byte, 1<<20)); err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	time.Sleep(300 * time.Millisecond)
	fmt.Println("fd", fd)
	time.Sleep(time.Minute)
	_ = l.Close() // and not before: a listener that is closed resets its connections
}

// child starts a process that ends with the test, and returns it with the first
// line that it prints (none is waited for when line is false).
func child(t *testing.T, c *exec.Cmd, line bool) string {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	if !line {
		return ""
	}
	s := bufio.NewScanner(out)
	s.Scan()
	return s.Text()
}

func TestBlockedInSend(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "THREADS_BLOCK=1")
	var fd int
	if line := child(t, c, true); line == "" {
		t.Fatal("the child said nothing")
	} else if _, err := fmt.Sscanf(line, "fd %d", &fd); err != nil {
		t.Fatalf("the child said %q", line)
	}
	m := watch(t, c.Process.Pid)
	var blocked []recording.Thread
	for _, r := range m.rec.Threads {
		if r.Syscall == "write" && r.FD == fd {
			blocked = append(blocked, r)
		}
	}
	if len(blocked) < 2 { // at the start and at the end
		t.Fatalf("%d rows in write on descriptor %d among %+v", len(blocked), fd, m.rec.Threads)
	}
	b := blocked[0]
	if b.State != "S" || b.Wchan != "wait_woken" || b.PID != c.Process.Pid || b.OnCPU <= 0 || b.Voluntary == 0 || b.T == 0 {
		t.Errorf("row %+v, want it asleep in wait_woken", b)
	}
	for _, cov := range []string{"threads", "threads.state", "threads.syscall", "threads.sched"} {
		if got, ok := m.rec.Measured(cov); !ok || got.State != recording.CoverageOK {
			t.Errorf("coverage %+v, want ok", got)
		}
	}
	if got, _ := m.rec.Measured("threads"); got.Cost <= 0 {
		t.Errorf("cost %v, want more than nothing", got.Cost)
	}
	if m.samples["snag_probe_cpu_seconds_total"] == 0 || m.samples["snag_probe_late_seconds"] == 0 {
		t.Errorf("samples %v, want the probe's own", m.samples)
	}
}

func TestStopped(t *testing.T) {
	c := exec.Command("sleep", "60")
	child(t, c, false)
	if err := c.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	m := watch(t, c.Process.Pid)
	if len(m.rec.Threads) == 0 {
		t.Fatal("no thread")
	}
	for _, r := range m.rec.Threads {
		if r.State != "T" || r.Comm != "sleep" || r.TID != c.Process.Pid {
			t.Errorf("row %+v, want it stopped", r)
		}
	}
}

func TestNobodyWatched(t *testing.T) {
	m := watch(t)
	got, ok := m.rec.Measured("threads.state")
	if ok || got.State != recording.CoverageOff || got.Why == "" {
		t.Errorf("coverage %+v, want off: silence about no process clears nothing", got)
	}
}

func TestProcessGone(t *testing.T) {
	c := exec.Command("true")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	m := watch(t, c.Process.Pid, os.Getpid())
	if got, ok := m.rec.Measured("threads.syscall"); !ok || got.State != recording.CoverageOK {
		t.Errorf("coverage %+v, want ok: a process that ended is not a failure", got)
	}
}

// unprivileged runs the probe on process 1 and prints its coverage.
func unprivileged() {
	t := &testing.T{}
	m := watch(t, 1)
	for _, c := range m.rec.Coverage {
		fmt.Printf("%s %s %s; %s\n", c.Probe, c.State, c.Why, c.Cure)
	}
}

func TestWithoutPtrace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving up a capability needs root")
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "THREADS_UNPRIVILEGED=1")
	out, err := without(c, unix.CAP_SYS_PTRACE)
	if err != nil {
		t.Fatal(err, out)
	}
	for _, want := range []string{"threads.syscall unavailable", "CAP_SYS_PTRACE", "threads.state partial", "threads.sched ok"} {
		if !strings.Contains(out, want) {
			t.Errorf("coverage lacks %q:\n%s", want, out)
		}
	}
}

// without runs a command that can't get a capability, and returns what it wrote.
// Process 1 has all of them, so it may not be looked into.
func without(c *exec.Cmd, capability uintptr) (out string, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the bounding set is the thread's, and ends with it
		if err = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
			return
		}
		var b []byte
		b, err = c.CombinedOutput()
		out = string(b)
	}()
	<-done
	return out, err
}

// TestManyThreads has more threads than are looked at: what was left out is told.
func TestManyThreads(t *testing.T) {
	s := &sampler{env: &probe.Env{Proc: "/proc", Sink: &memory{samples: map[string]int{}}, Watch: probe.NewWatch(1)}, read: reader{proc: "/proc"}}
	s.env.Watch.Add(os.Getpid(), "test")
	tids, all, err := s.read.tids(os.Getpid(), 2)
	if err != nil || len(tids) != 2 || all < 3 || tids[0] != os.Getpid() {
		t.Fatalf("threads %v of %d, %v; want 2, the first one first", tids, all, err)
	}
	s.looked, s.left = 2, uint64(all-2)
	for _, c := range s.rows() {
		if c.State != recording.CoveragePartial || c.Lost != 0 || !strings.Contains(c.Why, fmt.Sprintf("%d of %d samples", all-2, all)) {
			t.Errorf("coverage %+v, want partial", c)
		}
	}
}

// BenchmarkTick is the cost of a look at every thread of this process, most of
// them asleep since the last one, and of a first look.
func BenchmarkTick(b *testing.B) {
	for _, first := range []bool{true, false} {
		b.Run(map[bool]string{true: "ran", false: "asleep"}[first], func(b *testing.B) {
			s := &sampler{
				env:  &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), Sink: &memory{samples: map[string]int{}}, Watch: probe.NewWatch(1)},
				read: reader{proc: "/proc"},
			}
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "THREADS_BLOCK=1")
			if err := c.Start(); err != nil {
				b.Fatal(err)
			}
			defer func() {
				_ = c.Process.Kill()
				_ = c.Wait()
			}()
			time.Sleep(500 * time.Millisecond)
			s.env.Watch.Add(c.Process.Pid, "bench")
			for b.Loop() {
				if first {
					s.read.seen = nil
				}
				s.tick()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(s.looked), "ns/thread")
		})
	}
}
