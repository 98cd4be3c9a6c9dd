package runtimes

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// program is testdata/convoy.go, stripped.
var convoy string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "runtimes")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	convoy = filepath.Join(dir, "convoy")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", convoy, "testdata/convoy.go")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		convoy = ""
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// run starts the program and waits until it is ready.
func run(t testing.TB, args ...string) (pid int, said *bufio.Reader) {
	t.Helper()
	if convoy == "" {
		t.Fatal("go did not build testdata/convoy.go")
	}
	cmd := exec.Command(convoy, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	said = bufio.NewReader(out)
	if line, err := said.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the program said %q: %v", line, err)
	}
	return cmd.Process.Pid, said
}

// look runs the probe on a process for a while.
func look(t testing.TB, pid int, set func(*probe.Env), during time.Duration) *recording.Recording {
	t.Helper()
	sink := probetest.NewSink()
	env := &probe.Env{
		Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Sink: sink,
		Watch: probe.NewWatch(10), Closer: probe.NewWatch(10), Budget: probe.NewBudget(0, 2),
		Stacks: probe.NewStacks(sink, 10000), Notice: func(string) {},
	}
	env.Closer.Add(pid, "test")
	set(env)
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(during)
	r.Stop()
	rec := sink.Recording()
	for _, c := range rec.Coverage {
		if c.State == recording.CoverageFailed || c.State == recording.CoverageUnavailable {
			t.Fatalf("%s: %s; %s", c.Probe, c.Why, c.Cure)
		}
	}
	return rec
}

func functions(rec *recording.Recording, id int) string {
	for _, s := range rec.Stacks {
		if s.ID == id {
			return strings.Join(s.Frames, " ")
		}
	}
	return ""
}

// slowBackend answers each byte after 10 ms, one after the other.
func slowBackend(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var b [1]byte
				for {
					if _, err := io.ReadFull(c, b[:]); err != nil {
						return
					}
					time.Sleep(10 * time.Millisecond)
					if _, err := c.Write(b[:]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func TestGoMutexes(t *testing.T) {
	backend := slowBackend(t)
	locks := func(e *probe.Env) { e.GoLocks = true }
	for _, c := range []struct {
		mode   string
		convoy bool
	}{{"shared", true}, {"brief", false}, {"pool", false}} {
		pid, _ := run(t, c.mode, backend)
		rec := look(t, pid, locks, 3200*time.Millisecond)
		named := 0
		for _, r := range rec.LockWaits {
			t.Logf("%s: %d waiters, %d waits, %.3f s, the longest %.3f, in %s; owner %d in %s: %s", c.mode, r.Waiters, r.N, r.Sum, r.Max, functions(rec, r.Stack), r.Owner, r.OwnerCall, functions(rec, r.OwnerStack))
			if !c.convoy && r.Waiters >= 3 && r.Sum > 0.5*float64(r.Waiters) {
				t.Errorf("%s: a convoy: %+v", c.mode, r)
			}
			if r.Waiters >= 7 && r.Sum > 3.5 && strings.Contains(functions(rec, r.Stack), "main.handle") &&
				r.OwnerBy == recording.OwnerUnlocks && r.OwnerCall == "read" && r.OwnerFD != nil && strings.Contains(functions(rec, r.OwnerStack), "main.askBackend") {
				named++
			}
		}
		if c.convoy && named == 0 {
			t.Errorf("%s: no row names the function that holds the lock and what it waits for", c.mode)
		}
	}
}

// TestGoStops: each collection stops the world twice, for microseconds.
func TestGoStops(t *testing.T) {
	pid, _ := run(t, "collect", "")
	rec := look(t, pid, func(e *probe.Env) { e.GoRuntime = true }, 1500*time.Millisecond)
	reasons := map[string]int{}
	for _, e := range rec.Events {
		if e.Kind != recording.EventSafepoint || e.Attrs["runtime"] != "Go" || e.Subject.PID != pid || e.End < e.T || e.Value > 1 {
			t.Errorf("%+v", e)
		}
		reasons[e.Attrs["operation"]]++
	}
	if reasons["GC mark termination"] < 5 || reasons["GC sweep termination"] < 5 {
		t.Errorf("stops by reason: %v", reasons)
	}
	if len(rec.LockWaits) > 0 {
		t.Error("mutexes were not asked for")
	}
}

// TestOverBudget: what costs too much is taken away, and said.
func TestOverBudget(t *testing.T) {
	pid, _ := run(t, "spin", "")
	rec := look(t, pid, func(e *probe.Env) {
		e.GoLocks = true
		e.Budget = probe.NewBudget(1e-6, 2)
	}, 2500*time.Millisecond)
	c, _ := rec.Measured(measureLocks)
	if c.State != recording.CoveragePartial || !strings.Contains(c.Cure, "--budget") {
		t.Errorf("%+v", c)
	}
}

// To load the programs and to set the breakpoints is paid once, and detaching gives nothing of
// it back: a closer look that begins after some seconds must not end for it.
func TestAttachingIsNotOnTheBudget(t *testing.T) {
	pid, _ := run(t, "pool", slowBackend(t))
	var budget *probe.Budget
	rec := look(t, pid, func(e *probe.Env) {
		e.GoLocks = true
		budget = e.Budget
	}, 1500*time.Millisecond)
	c, _ := rec.Measured("runtimes")
	if spent := budget.Spent()["runtimes"]; spent > c.Cost/2 {
		t.Errorf("%.3f s are on the budget, of %.3f s that it cost with attaching", spent, c.Cost)
	}
}

// BenchmarkStopsOfGo is what the two breakpoints of a stop cost a program that does
// nothing but stop its own world (runtime.ReadMemStats).
func BenchmarkStopsOfGo(b *testing.B) {
	for _, probed := range []bool{false, true} {
		b.Run(fmt.Sprintf("probed=%v", probed), func(b *testing.B) {
			pid, said := run(b, "stats", "")
			look(b, pid, func(e *probe.Env) { e.GoRuntime = probed }, 3*time.Second)
			line, err := said.ReadString('\n')
			if err != nil {
				b.Fatal(err)
			}
			var ns float64
			if _, err := fmt.Sscanf(line, "ns %f", &ns); err != nil {
				b.Fatalf("%q: %v", line, err)
			}
			b.ReportMetric(ns, "CPU-ns/stop")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func TestTrapIsMeasured(t *testing.T) {
	k, err := load("/proc", "/sys")
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	took, err := measureTrap(k.objects.LockSlow)
	var hits uint64
	if err := k.objects.Hits.Get(&hits); err != nil {
		t.Fatal(err)
	}
	t.Logf("a breakpoint costs %.1f µs", 1e6*took)
	if err != nil || hits < trials || took <= 0 || took > 1e-3 {
		t.Errorf("%d hits, %g s each: %v", hits, took, err)
	}
}
