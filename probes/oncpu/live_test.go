package oncpu

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// sampleAll runs the probe while f lasts.
func sampleAll(tb testing.TB, whole bool, pids []int, f func()) *recording.Recording {
	tb.Helper()
	return sampleWith(tb, probe.Env{Whole: whole, Target: recording.Target{PIDs: pids}}, f)
}

func sampleWith(tb testing.TB, env probe.Env, f func()) *recording.Recording {
	tb.Helper()
	if lack := kernel.CanLoad("/proc", "/sys"); lack != nil {
		if os.Geteuid() == 0 {
			tb.Fatal(lack)
		}
		tb.Skip(lack)
	}
	sink := probetest.NewSink()
	env.Proc, env.Sys, env.Anchor, env.SelfPID, env.Sink, env.Notice = "/proc", "/sys", probe.NewAnchor(), os.Getpid(), sink, sink.Notice
	env.Closer, env.Budget, env.Stacks = probe.NewWatch(1), probe.NewBudget(0, 1), probe.NewStacks(sink, 20000)
	r, err := Probe.Start(context.Background(), &env)
	if err != nil {
		tb.Fatal(err)
	}
	f()
	r.Stop()
	rec := sink.Recording()
	for _, c := range rec.Coverage {
		tb.Logf("%s %s lost %d cost %.3f s: %s", c.Probe, c.State, c.Lost, c.Cost, c.Why)
	}
	return rec
}

// compile builds a program; its source names the language by its ending.
func compile(tb testing.TB, name, source string, command ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o644); err != nil {
		tb.Fatal(err)
	}
	out := filepath.Join(dir, "spinner")
	cmd := exec.Command(command[0], append(command[1:], "-o", out, name)...)
	cmd.Dir = dir
	if b, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %v\n%s", command, err, b)
	}
	return out
}

// run starts a program that the test ends.
func run(tb testing.TB, cmd *exec.Cmd) int {
	tb.Helper()
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// burn waits until each of the processes has run for so long, for 15 s at most: on a busy
// machine that takes longer, and samples are what a test needs.
func burn(tb testing.TB, d time.Duration, pids ...int) {
	tb.Helper()
	ran := func(pid int) time.Duration {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if err != nil || len(fields) < 13 {
			tb.Fatalf("process %d is gone: %v", pid, err)
		}
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		return time.Duration(user+system) * 10 * time.Millisecond
	}
	before := map[int]time.Duration{}
	for _, pid := range pids {
		before[pid] = ran(pid)
	}
	for end := time.Now().Add(15 * time.Second); len(before) > 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for pid, from := range before {
			if ran(pid)-from >= d {
				delete(before, pid)
			}
		}
	}
}

// of are the samples of one process, how many frames of its own they have and how
// many of these are named; and the functions that ran, with the samples they were
// in.
type of struct {
	samples, frames, named, cut uint64
	in                          map[string]uint64
	threads                     map[int]uint64
}

func samplesOf(r *recording.Recording, pid int) of {
	stacks := map[int]recording.Stack{}
	for _, s := range r.Stacks {
		stacks[s.ID] = s
	}
	o := of{in: map[string]uint64{}, threads: map[int]uint64{}}
	for _, row := range r.OnCPU {
		if row.PID != pid {
			continue
		}
		s := stacks[row.Stack]
		o.samples += row.N
		o.threads[row.TID] += row.N
		if s.Cut != "" {
			o.cut += row.N
		}
		for i, name := range s.Frames {
			o.frames += row.N
			if !strings.Contains(name, "+0x") && !strings.HasPrefix(name, "0x") {
				o.named += row.N
			}
			if !slices.Contains(s.Frames[:i], name) {
				o.in[name] += row.N
			}
		}
	}
	return o
}

func (o of) want(t *testing.T, names ...string) {
	t.Helper()
	if o.samples < 10 || o.frames == 0 {
		t.Fatalf("%d samples with %d frames: too few to tell", o.samples, o.frames)
	}
	t.Logf("%d samples, %d of %d frames named, %d cut", o.samples, o.named, o.frames, o.cut)
	if 10*o.named < 9*o.frames {
		t.Errorf("%d of %d frames have a name: %v", o.named, o.frames, o.in)
	}
	for _, name := range names {
		if 10*o.in[name] < 8*o.samples {
			t.Errorf("%s is in %d of %d samples: %v", name, o.in[name], o.samples, o.in)
		}
	}
}

// Each function does something after its call, so that none hands its frame on.
const cpp = `
#include <pthread.h>
#define OWN __attribute__((noinline))
#define STAYS asm volatile("")
#ifndef FRAME
#define FRAME
#endif
namespace relay {
volatile unsigned long sum;
OWN void step() { sum++; }
struct Lock { OWN void spin() { for (int i = 0; i < 1000; i++) sum += i; step(); STAYS; } };
OWN void forward(Lock &l) { for (int i = 0; i < 1000; i++) l.spin(); STAYS; }
OWN void packet(Lock &l) { forward(l); STAYS; }
OWN void frame(Lock &l) { packet(l); STAYS; }
OWN void stream(Lock &l) { FRAME; frame(l); STAYS; }
OWN void session(Lock &l) { stream(l); STAYS; }
OWN void serve(Lock &l) { session(l); STAYS; }
OWN void work() { Lock l; for (;;) serve(l); }
OWN void *worker(void *) { work(); return 0; }
}
int main(int argc, char **argv) {
  pthread_t t;
  if (argc > 1) { pthread_create(&t, 0, relay::worker, 0); pthread_join(t, 0); }
  relay::work();
}
`

func TestCppWithFramePointers(t *testing.T) {
	path := compile(t, "p.cc", cpp, "g++", "-O2", "-fno-omit-frame-pointer", "-pthread")
	main, thread := run(t, exec.Command(path)), run(t, exec.Command(path, "thread"))
	r := sampleAll(t, true, []int{main, thread}, func() { burn(t, 400*time.Millisecond, main, thread) })
	samplesOf(r, main).want(t, "relay::work", "relay::session", "relay::forward", "main")
	o := samplesOf(r, thread)
	o.want(t, "relay::work", "relay::session", "relay::forward")
	if o.threads[thread] > o.samples/10 {
		t.Errorf("the worker's samples are the first thread's: %v", o.threads)
	}
	if o.cut > o.samples/10 {
		t.Errorf("%d of %d whole stacks are said to be cut: %v", o.cut, o.samples, o.in)
	}
	for _, row := range r.OnCPU {
		if row.PID != main && row.PID != thread {
			t.Errorf("a process that was not asked for: %+v", row)
		}
	}
	if c, _ := r.Measured("oncpu.symbols"); c.State != recording.CoverageOK {
		t.Errorf("%+v", c)
	}
}

// Without frame pointers the callers beyond a large frame are lost, and it is said.
func TestCppWithoutFramePointersIsSaidToBeCut(t *testing.T) {
	path := compile(t, "p.cc", cpp, "g++", "-O2", "-fomit-frame-pointer", "-s", "-pthread", "-DFRAME=volatile char big[8192]; big[0] = 1")
	pid := run(t, exec.Command(path))
	r := sampleAll(t, true, []int{pid}, func() { burn(t, 400*time.Millisecond, pid) })
	o := samplesOf(r, pid)
	if o.samples < 10 {
		t.Fatalf("%d samples", o.samples)
	}
	if c, _ := r.Measured("oncpu.symbols"); c.State != recording.CoveragePartial || !strings.Contains(c.Why, "spinner") || c.Cure == "" {
		t.Errorf("%+v", c)
	}
	if c, _ := r.Measured("oncpu.stacks"); o.cut < o.samples/2 || c.State != recording.CoveragePartial || !strings.Contains(c.Cure, "-fno-omit-frame-pointer") {
		t.Errorf("%d of %d cut: %+v", o.cut, o.samples, c)
	}
}

// Without frame pointers, stripped of nothing: a copy of the stack has all callers,
// of a leaf as well, through libstdc++'s and libc's starts.
func TestCppByCallFrameInformation(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("for x86-64 only")
	}
	path := compile(t, "p.cc", cpp, "g++", "-O2", "-fomit-frame-pointer", "-pthread")
	main, thread := run(t, exec.Command(path)), run(t, exec.Command(path, "thread"))
	golang := run(t, exec.Command(compile(t, "main.go", golang, "go", "build")))
	dd := run(t, exec.Command("dd", "if=/dev/zero", "of=/dev/null", "bs=64k"))
	env := probe.Env{Whole: true, Unwind: true, Target: recording.Target{PIDs: []int{main, thread, golang, dd}}}
	r := sampleWith(t, env, func() { burn(t, 400*time.Millisecond, main, thread, golang, dd) })
	for _, pid := range []int{main, thread} {
		o := samplesOf(r, pid)
		o.want(t, "relay::Lock::spin", "relay::forward", "relay::packet", "relay::frame", "relay::stream", "relay::session", "relay::serve", "relay::work")
		if o.cut > o.samples/10 {
			t.Errorf("%d of %d are cut: %v", o.cut, o.samples, o.in)
		}
	}
	samplesOf(r, main).want(t, "main", "_start")
	samplesOf(r, thread).want(t, "relay::worker")
	// Go has no call frame information: by its frame pointers.
	samplesOf(r, golang).want(t, "main.forward", "main.session", "main.main", "runtime.main")
	// In the kernel: the program's side is where it called.
	if o := samplesOf(r, dd); o.samples == 0 || 2*o.cut > o.samples || o.in["vfs_read"] == 0 {
		t.Errorf("dd: %d samples, %d cut: %v", o.samples, o.cut, o.in)
	}
}

const golang = `package main

func main() { session() }

//go:noinline
func session() {
	for {
		forward()
	}
}

var sum int

//go:noinline
func forward() {
	for i := range 1000000 {
		sum += i
	}
	step()
}

//go:noinline
func step() { sum++ }
`

func TestGoWithAndWithoutSymbols(t *testing.T) {
	pids := map[string]int{}
	var all []int
	for _, flags := range []string{"", "-s -w"} {
		pids[flags] = run(t, exec.Command(compile(t, "main.go", golang, "go", "build", "-ldflags="+flags)))
		all = append(all, pids[flags])
	}
	r := sampleAll(t, true, all, func() { burn(t, 400*time.Millisecond, all...) })
	for flags, pid := range pids {
		o := samplesOf(r, pid)
		o.want(t, "main.forward", "main.session", "main.main", "runtime.main")
		if o.cut > o.samples/10 {
			t.Errorf("%q: %d of %d are said to be cut: %v", flags, o.cut, o.samples, o.in)
		}
	}
}

// The kernel's path is named for whoever is on it, and a find sees it as well.
func TestKernelPath(t *testing.T) {
	pid := run(t, exec.Command("dd", "if=/dev/zero", "of=/dev/null", "bs=64k"))
	r := sampleAll(t, false, nil, func() { time.Sleep(1500 * time.Millisecond) })
	n, all := uint64(0), map[recording.Time]uint64{}
	for _, row := range r.Profile {
		all[row.T] = row.All
		if row.PID == pid && row.Comm == "dd" && row.Caller != "" {
			n += row.Samples
		}
	}
	if n < 10 {
		t.Errorf("%d samples of dd in the kernel", n)
	}
	sum := uint64(0)
	for _, v := range all {
		sum += v
	}
	if sum < 50 {
		t.Errorf("%d samples of all CPUs", sum)
	}
	o := samplesOf(r, pid)
	if 2*o.in["read_zero"]+2*o.in["vfs_read"] < o.samples {
		t.Errorf("dd reads zeros: %v", o.in)
	}
}

// Processes that ended before the names were asked for, and one of another user in
// a deleted file.
func TestProcessesThatEndMeanwhile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("another user's process needs root")
	}
	path := compile(t, "p.cc", cpp, "g++", "-O2", "-fno-omit-frame-pointer", "-pthread")
	copied := "/tmp/snag-oncpu-" + strconv.Itoa(os.Getpid()) // where others may come
	if b, err := os.ReadFile(path); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(copied, b, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(copied)
	var pid int
	r := sampleAll(t, true, nil, func() {
		cmd := exec.Command(copied)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1234, Gid: 1234}}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid = cmd.Process.Pid
		if err := os.Remove(copied); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		time.Sleep(time.Second)
	})
	samplesOf(r, pid).want(t, "relay::work", "relay::forward")
}

// A process that becomes another program has the names of both.
func TestExec(t *testing.T) {
	path := compile(t, "p.cc", cpp, "g++", "-O2", "-fno-omit-frame-pointer", "-pthread")
	now := filepath.Join(t.TempDir(), "now")
	pid := run(t, exec.Command("bash", "-c", `until [ -e "$1" ]; do for ((i = 0; i < 1000; i++)); do :; done; done; exec "$0"`, path, now))
	r := sampleAll(t, true, []int{pid}, func() {
		time.Sleep(time.Second)
		if err := os.WriteFile(now, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
	})
	o := samplesOf(r, pid)
	if o.in["relay::forward"] < 10 {
		t.Errorf("%v", o.in)
	}
	if !hasObject(r, "bash") {
		t.Errorf("nothing of bash, which it ran before: %v", o.in)
	}
	for name := range o.in {
		if strings.HasPrefix(name, "[unknown]") {
			t.Errorf("%s, though all was looked at in time", name)
		}
	}
}

func hasObject(r *recording.Recording, base string) bool {
	for _, s := range r.Stacks {
		for _, object := range s.Objects {
			if filepath.Base(object) == base {
				return true
			}
		}
	}
	return false
}
