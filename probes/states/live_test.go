package states

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"snag/internal/kernel"
	"snag/internal/procroot"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// waiting is a program whose threads wait in known places, while its first one works and
// sleeps by turns.
const waiting = `
import os, socket, threading, time
a, b = socket.socketpair()
lock = threading.Lock()
lock.acquire()
for wait in (lambda: a.recv(1), lock.acquire, lambda: time.sleep(60)):
    threading.Thread(target=wait, daemon=True).start()
time.sleep(0.1)
print(a.fileno(), os.fstat(a.fileno()).st_ino, flush=True)
while True:
    end = time.monotonic() + 0.03
    while time.monotonic() < end: pass
    time.sleep(0.03)
`

func watch(t *testing.T, pids ...int) *recording.Recording {
	t.Helper()
	return watchAlso(t, nil, pids...)
}

// watchAlso has one more process watched every half second.
func watchAlso(t *testing.T, later []int, pids ...int) *recording.Recording {
	t.Helper()
	if lack := kernel.CanLoad("/proc", "/sys"); lack != nil {
		if os.Geteuid() == 0 {
			t.Fatal(lack)
		}
		t.Skip(lack)
	}
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Sink: sink, Watch: probe.NewWatch(100), Notice: func(string) {}}
	for _, p := range pids {
		env.Watch.Add(p, "test")
	}
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		time.Sleep(500 * time.Millisecond)
		if i < len(later) {
			env.Watch.Add(later[i], "test")
		}
	}
	r.Stop()
	return sink.Recording()
}

func begin(t testing.TB, argv ...string) (pid int, line string) {
	t.Helper()
	c := exec.Command(argv[0], argv[1:]...)
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
	if argv[0] == "python3" {
		line, err = bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
	}
	return c.Process.Pid, line
}

// Who is watched changes all the time: each is looked at soon, and the samples by which it is seen that
// the probe keeps up come once a second all the same.
func TestOneMoreEveryHalfSecond(t *testing.T) {
	var pids []int
	for range 5 {
		pid, _ := begin(t, "sleep", "60")
		pids = append(pids, pid)
	}
	rec := watchAlso(t, pids[1:], pids[0])
	if samples := rec.Select("snag_probe_late_seconds"); len(samples) != 1 || len(samples[0].Points) != 2 {
		t.Errorf("samples in 2.5 s: %v", samples)
	}
	looks := map[int]uint64{}
	for _, r := range rec.ThreadStates {
		looks[r.PID] += r.N
	}
	if len(looks) != len(pids) {
		t.Errorf("looks by process: %v", looks)
	}
}

func TestThreadsAreFoundWhereTheyWait(t *testing.T) {
	pid, line := begin(t, "python3", "-c", waiting)
	other, _ := begin(t, "sleep", "60")
	stoppedPID, _ := begin(t, "sleep", "60")
	if err := syscall.Kill(stoppedPID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var fd int
	var inode uint64
	if _, err := fmt.Sscan(line, &fd, &inode); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	rec := watch(t, pid, stoppedPID)
	c, ok := rec.Measured("states")
	if !ok || c.State != recording.CoverageOK || c.Lost > 0 || c.Cost <= 0 {
		t.Errorf("coverage %+v, want ok", c)
	}
	type thread struct {
		pid, tid int
		t        recording.Time
	}
	sums, looks := map[thread]uint64{}, map[recording.Time]uint64{}
	calls, ran := map[string]uint64{}, uint64(0)
	for _, r := range rec.ThreadStates {
		sums[thread{r.PID, r.TID, r.T}] += r.N
		looks[r.T] = r.Looks
		switch {
		case r.PID == other:
			t.Errorf("nobody watches that process: %+v", r)
		case r.PID == stoppedPID:
			if r.State != "T" || r.Comm != "sleep" {
				t.Errorf("%+v, want it stopped", r)
			}
		case r.TID == pid && r.State == "R":
			ran += r.N
		case r.State == "S":
			calls[r.Call] += r.N
			if r.Call == "recvfrom" && (r.FD != fd || r.Inode != inode) || r.Call == "futex" && r.TID != pid && r.Futex == 0 {
				t.Errorf("%+v, want descriptor %d, inode %d, or the lock's address", r, fd, inode)
			}
		}
	}
	all := uint64(0)
	for _, n := range looks {
		all += n
	}
	if all < 25 || all > 75 {
		t.Errorf("%d looks in 2.5 s, want some 50", all)
	}
	for k, n := range sums {
		if n != looks[k.t] {
			t.Errorf("thread %d was found in %d places in %d looks", k.tid, n, looks[k.t])
		}
	}
	if calls["recvfrom"] != all || calls["futex"] < all || calls["clock_nanosleep"] <= all || ran < all/5 || ran > all*9/10 {
		t.Errorf("of %d looks: ran %d, slept in %v", all, ran, calls)
	}
	t.Logf("%d looks, ran %d, slept in %v, cost %.1f ms", all, ran, calls, 1000*c.Cost)
}

func TestNobodyIsWatched(t *testing.T) {
	rec := watch(t)
	if c, ok := rec.Measured("states"); ok || c.State != recording.CoverageOff || len(rec.ThreadStates) > 0 {
		t.Errorf("%+v, %d rows", c, len(rec.ThreadStates))
	}
}

// asking is a program whose threads wait for a server, for a client that it took in, and at a
// pipe.
const asking = `
import os, socket, threading, time
l = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(l.getsockname())
a, _ = l.accept()
r, w = os.pipe()
for wait in (lambda: c.recv(1), lambda: a.recv(1), lambda: os.read(r, 1)):
    threading.Thread(target=wait, daemon=True).start()
print(c.fileno(), a.fileno(), r, l.getsockname()[1], flush=True)
time.sleep(60)
`

func TestWhatIsBehindADescriptor(t *testing.T) {
	pid, line := begin(t, "python3", "-c", asking)
	var asks, taken, pipe, port int
	if _, err := fmt.Sscan(line, &asks, &taken, &pipe, &port); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	want := map[int][2]string{asks: {recording.OfSocket, fmt.Sprintf("127.0.0.1:%d", port)}, taken: {recording.OfSocket, ""}, pipe: {recording.OfPipe, ""}}
	seen := map[int]bool{}
	for _, r := range watch(t, pid).ThreadStates {
		if w, ok := want[r.FD]; ok && r.State == "S" {
			seen[r.FD] = true
			if r.Kind != w[0] || r.Remote != w[1] {
				t.Errorf("descriptor %d is a %s with %q at its other end, want %v", r.FD, r.Kind, r.Remote, w)
			}
		}
	}
	if len(seen) != len(want) {
		t.Errorf("saw %v of %v", seen, want)
	}
}

// turning is a program that waits for a while and then for a child, by turns.
const turning = `
import os, select
p = select.poll()
print(flush=True)
while True:
    p.poll(200)
    r = os.fork()
    if r == 0: os.execvp("sleep", ["sleep", "0.2"])
    os.waitpid(r, 0)
`

// Where a thread sleeps is not read again while it sleeps on: once it went somewhere else, it is.
func TestWhoSleepsElsewhereIsFoundThere(t *testing.T) {
	pid, _ := begin(t, "python3", "-c", turning)
	n := map[string]uint64{}
	for _, r := range watch(t, pid).ThreadStates {
		if r.TID == pid && r.State == "S" {
			n[r.Call] += r.N
		}
	}
	if n["poll"] < 10 || n["wait4"] < 10 {
		t.Errorf("found in %v, want it in poll and in wait4 about as often", n)
	}
}

// forking is a server's process that forks one that answers, and another one a second later.
const forking = `
import os, time
def fork():
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    return pid
print(fork(), flush=True)
time.sleep(1)
print(fork(), flush=True)
time.sleep(60)
`

func TestTheOthersThatAParentForked(t *testing.T) {
	c := exec.Command("python3", "-c", forking)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	child := func() (pid int) {
		if !lines.Scan() {
			t.Fatal("the program printed nothing")
		}
		if _, err := fmt.Sscan(lines.Text(), &pid); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		return pid
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	first := child()
	rec := watch(t, first)
	later := child()
	seen := map[int]uint64{}
	for _, r := range rec.ThreadStates {
		seen[r.PID] += r.N
	}
	for _, r := range rec.ThreadStates {
		if want := map[bool]int{true: c.Process.Pid}[r.PID != c.Process.Pid]; r.Parent != want {
			t.Errorf("the parent of %d is %d, want %d", r.PID, r.Parent, want)
		}
	}
	if len(seen) != 3 || seen[first] == 0 || seen[later] == 0 || seen[later] >= seen[first] || seen[c.Process.Pid] == 0 {
		t.Errorf("looks by process: %v; want %d, its parent %d, and %d, which began later", seen, first, c.Process.Pid, later)
	}
}

// perConnection is a server that forks a process for each connection, which is gone a moment later, and one that
// lasts: housekeeping.
const perConnection = `
import os, time
if os.fork() == 0:
    time.sleep(60)
print(flush=True)
while True:
    if os.fork() == 0:
        time.sleep(0.1)
        os._exit(0)
    os.wait()
`

func TestWhoIsForkedForAConnectionIsFound(t *testing.T) {
	parent, _ := begin(t, "python3", "-c", perConnection)
	t.Cleanup(func() {
		for _, child := range procroot.Children("/proc", parent, parent) {
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
	})
	children := map[int]bool{}
	for _, r := range watch(t, parent).ThreadStates {
		if r.Parent == parent {
			children[r.PID] = true
		}
	}
	if len(children) < 5 {
		t.Errorf("%d processes that %d forked were found in 2.5 s; it forks ten per second", len(children), parent)
	}
}
