package syscalls

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
	"snag/recording/calltable"
)

func TestNothingIsAttachedWithoutAProcess(t *testing.T) {
	sink := probetest.NewSink()
	e := env(t, sink)
	r := begin(t, e).(*running)
	if r.kernel != nil {
		t.Error("programs were loaded for nobody")
	}
	p := run(t, "fixed")
	e.Closer.Add(p.cmd.Process.Pid, "suspected")
	for range 100 { // it looks again each second
		time.Sleep(100 * time.Millisecond)
		if coverageOf(t, sink.Recording(), measureCalls).State == recording.CoverageOK {
			break
		}
	}
	p.tell("go")
	r.Stop()
	if c := total(sink.Recording(), p.cmd.Process.Pid, "getppid", -1); c.N != getppids {
		t.Errorf("getppid of a process that was added later: %d, want %d", c.N, getppids)
	}
	sink = probetest.NewSink()
	begin(t, env(t, sink)).Stop()
	if c := coverageOf(t, sink.Recording(), measureCalls); c.State != recording.CoverageOff || c.Cure == "" {
		t.Errorf("coverage %+v", c)
	}
}

func TestBudgetEndsIt(t *testing.T) {
	sink := probetest.NewSink()
	p := run(t, "stall")
	e := env(t, sink, p.cmd.Process.Pid)
	e.Budget = probe.NewBudget(1e-6, 1)
	r := begin(t, e)
	p.tell("2500ms")
	r.Stop()
	rec := sink.Recording()
	c := coverageOf(t, rec, measureCalls)
	if c.State != recording.CoveragePartial || !strings.Contains(c.Why, "stopped after ") || !strings.Contains(c.Why, "budget") {
		t.Errorf("coverage %+v", c)
	}
	if n := total(rec, p.cmd.Process.Pid, "getppid", -1).N; n == 0 {
		t.Error("what was counted before is lost")
	}
	if e.Budget.Spent()[probeName] == 0 {
		t.Error("nothing was charged")
	}
}

func TestForksAreFollowedAndBounded(t *testing.T) {
	sink := probetest.NewSink()
	p := run(t, "forks")
	r := begin(t, env(t, sink, p.cmd.Process.Pid)).(*running)
	p.tell("go")
	r.cancel()
	<-r.done
	rec := sink.Recording()
	if c := coverageOf(t, rec, measureCalls); c.State != recording.CoverageOK || c.Lost != 0 {
		t.Errorf("coverage %+v", c)
	}
	execs := total(rec, 0, "execve", -1)
	ok := execs.N
	for _, n := range execs.Errors {
		ok -= n
	}
	if ok != children {
		t.Errorf("%d of %d children's execve: %+v", ok, children, execs)
	}
	perSecond := map[recording.Time]int{}
	for _, row := range rec.Calls {
		perSecond[row.T]++
	}
	for at, n := range perSecond {
		if n > calltable.Most+400 { // what is taken together is a row for each call
			t.Errorf("%d rows in the second from %v", n, at)
		}
	}
}

func TestTargetsThatEndAreForgotten(t *testing.T) {
	sink := probetest.NewSink()
	p := run(t, "quiet")
	r := begin(t, env(t, sink, p.cmd.Process.Pid)).(*running)
	defer r.Stop()
	pid := uint32(p.cmd.Process.Pid)
	var since uint64
	if err := r.kernel.objects.Targets.Lookup(pid, &since); err != nil || since == 0 {
		t.Fatalf("the target is not known: %v", err)
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	for range 50 {
		if err := r.kernel.objects.Targets.Lookup(pid, &since); err != nil {
			return // its number may be another's now
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("a process that has ended is still looked at: its number may be another's")
}

func TestCallsThatGoOnAreEvents(t *testing.T) {
	p := run(t, "block")
	p.tell("before")
	sink := probetest.NewSink()
	r := begin(t, env(t, sink, p.cmd.Process.Pid))
	p.tell("meanwhile")
	time.Sleep(1300 * time.Millisecond)
	r.Stop()
	begun := map[string]int{}
	for _, e := range sink.Recording().Events {
		if e.Kind != recording.EventBlocked || e.Attrs["call"] != "read" {
			continue
		}
		if !strings.HasPrefix(e.Attrs["name"], "unix") {
			continue // its input
		}
		begun[e.Attrs["begun"]]++
		if e.End != 0 || e.Value < 1 || e.Subject.TID == 0 || e.Attrs["fd"] == "" || !strings.Contains(e.Attrs["name"], "syscalls.test") {
			t.Errorf("%+v", e)
		}
	}
	if begun["seen"] != 1 || begun["before"] != 1 {
		t.Errorf("reads that go on: %v, want one that was seen to begin and one that was not", begun)
	}
}

func TestEveryProcess(t *testing.T) {
	sink := probetest.NewSink()
	p := run(t, "fixed")
	e := env(t, sink)
	e.CloserAll = true
	r := begin(t, e)
	p.tell("go")
	r.Stop()
	rec := sink.Recording()
	if c := total(rec, p.cmd.Process.Pid, "getppid", -1); c.N != getppids {
		t.Errorf("getppid: %d, want %d", c.N, getppids)
	}
	for _, c := range rec.Calls {
		if c.PID == os.Getpid() {
			t.Fatalf("snag's own call: %+v", c)
		}
	}
}

func TestThousandsOfThreads(t *testing.T) {
	sink := probetest.NewSink()
	p := run(t, "threads")
	r := begin(t, env(t, sink, p.cmd.Process.Pid))
	p.tell("go")
	r.Stop()
	rec := sink.Recording()
	if c := total(rec, p.cmd.Process.Pid, "gettid", -1); c.N < manyThreads*10 {
		t.Errorf("gettid: %d, want %d at least", c.N, manyThreads*10)
	}
	if c := coverageOf(t, rec, measureCalls); c.Lost != 0 || c.State != recording.CoverageOK {
		t.Errorf("coverage %+v", c)
	}
	if n := len(rec.Calls); n > 2*(calltable.Most+400) { // of the two seconds that it may lie in
		t.Errorf("%d rows", n)
	}
}

// TestThreadThatExecutes has a thread execute another program: its number is the
// process' from then on (fs/exec.c, de_thread), and no call is counted twice or missed.
func TestThreadThatExecutes(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "threadexec")
	out, err := exec.Command("gcc", "-O1", "-pthread", "-o", exe, "testdata/threadexec.c").CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Fatal("needs gcc: make setup")
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := startProgram(t, exec.Command(exe))
	if l := p.answer(); l != "ready\n" {
		t.Fatalf("the program says %q", l)
	}
	sink := probetest.NewSink()
	r := begin(t, env(t, sink, p.cmd.Process.Pid))
	if l := p.tell("go"); l != "done\n" {
		t.Fatalf("the program says %q", l)
	}
	r.Stop()
	rec, pid := sink.Recording(), p.cmd.Process.Pid
	if n := total(rec, pid, "getppid", -1).N; n != 180 {
		t.Errorf("%d calls of getppid, want 180", n)
	}
	var first, other uint64
	for _, c := range rec.Calls {
		switch {
		case c.Call != "getppid" && c.Call != "execve":
		case c.TID == pid:
			first += c.N
		default:
			other += c.N
		}
	}
	if first != 151 || other != 30 {
		t.Errorf("%d calls of the first thread, %d of the one that executed; want 50 + 1 execve + 100, and 30", first, other)
	}
}
