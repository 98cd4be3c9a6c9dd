package blocked

import (
	"context"
	"math"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/probes/threads"
	"snag/recording"
)

func TestExecStart(t *testing.T) {
	for in, want := range map[string]float64{
		"head (1, #threads: 1)\n---\nse.exec_start                                :      36385597.222003\nse.vruntime : 1.0\n": 36385.597222003,
		"se.vruntime : 1.0\n": -1, "se.exec_start : x\n": -1, "se.exec_start\n": -1, "": -1,
	} {
		got, ok := parseExecStart([]byte(in))
		if ok != (want >= 0) || ok && math.Abs(got-want) > 1e-6 {
			t.Errorf("%q: %v %v, want %v", in, got, ok, want)
		}
	}
}

func TestStatFields(t *testing.T) {
	stat := []byte("3 (a) b) c) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 26 0 0 18446744073709551615 0 0 0 0 0 0 0 2147483647 0 0 0 0 17 1 0 0 0 0 0")
	if cpu, ok := parseCPU(stat); !ok || cpu != 1 {
		t.Errorf("cpu %d %v", cpu, ok)
	}
	if !threads.IsKernelThread(stat) {
		t.Error("a kernel thread is taken for a process")
	}
	if threads.IsKernelThread([]byte("1 (init) S 0 1 1 0 -1 4194560")) {
		t.Error("init is taken for a kernel thread")
	}
	if _, ok := parseCPU([]byte("1 (init) S 0")); ok {
		t.Error("a CPU out of a line that was cut off")
	}
}

func FuzzSched(f *testing.F) {
	f.Add([]byte("se.exec_start : 1.5\n"), []byte("1 (x) S 2 0"))
	f.Fuzz(func(t *testing.T, sched, stat []byte) {
		if s, ok := parseExecStart(sched); ok && s < 0 {
			t.Errorf("%q: %v", sched, s)
		}
		if cpu, ok := parseCPU(stat); ok && cpu < 0 {
			t.Errorf("%q: CPU %d", stat, cpu)
		}
	})
}

func TestStillOnlyWhereNothingMoved(t *testing.T) {
	was := recording.Thread{PID: 1, TID: 2, State: "S", Syscall: "read", FD: 3, OnCPU: 1, Voluntary: 5}
	if !still(was, was) {
		t.Error("a thread that did not move is taken to have moved")
	}
	for name, change := range map[string]func(*recording.Thread){
		"ran": func(t *recording.Thread) { t.OnCPU = 2 }, "woke": func(t *recording.Thread) { t.Voluntary = 6 },
		"other call": func(t *recording.Thread) { t.Syscall = "write" }, "other descriptor": func(t *recording.Thread) { t.FD = 4 },
		"runs": func(t *recording.Thread) { t.State = "R" }, "no call": func(t *recording.Thread) { t.Syscall = "none" },
		"other process": func(t *recording.Thread) { t.PID = 9 },
	} {
		is := was
		change(&is)
		if still(was, is) {
			t.Errorf("%s: taken for still", name)
		}
	}
}

func TestIdle(t *testing.T) {
	socket := &recording.FD{Kind: "socket"}
	for _, c := range []struct {
		t    recording.Thread
		row  *recording.FD
		want bool
	}{
		{recording.Thread{Syscall: "epoll_wait", State: "S"}, nil, true},
		{recording.Thread{Syscall: "futex", State: "S"}, nil, true},
		{recording.Thread{Syscall: "futex", State: "S", Lock: true}, nil, false},
		{recording.Thread{Syscall: "read", State: "S"}, socket, false},
		{recording.Thread{Syscall: "read", State: "S"}, &recording.FD{Kind: "eventfd"}, true},
		{recording.Thread{Syscall: "accept4", State: "S"}, socket, true},
		{recording.Thread{Syscall: "epoll_wait", State: "D"}, nil, false},
	} {
		if got := idle(c.t, c.row); got != c.want {
			t.Errorf("%+v: idle %v", c.t, got)
		}
	}
}

// TestBlockedWriteIsExplained has a process (cat) write to a connection that nobody
// reads.
func TestBlockedWriteIsExplained(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := c.(*net.TCPConn).File() // blocking: unix.SetNonblock is off in a duplicate
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(int(theirs.Fd()), false); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cat", "/dev/zero")
	cmd.Stdout = theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	s, err := l.Accept() // and reads nothing
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c.Close()
	theirs.Close()
	time.Sleep(time.Second)
	own, err := netns.IDOf("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Netns: own}
	f := Look(context.Background(), env, []int{cmd.Process.Pid}, 300*time.Millisecond, 100)
	if len(f.Stuck) != 1 || f.Threads != 1 {
		t.Fatalf("%+v", f)
	}
	got := f.Stuck[0]
	if got.Syscall != "write" || got.FD != 1 || got.Idle || got.Seconds < 0.3 {
		t.Errorf("%+v", got)
	}
	for _, part := range []string{"tcp ", l.Addr().String(), "ESTABLISHED", "to blocked.test", "bytes sent that the other end has not taken"} {
		if !strings.Contains(got.On, part) {
			t.Errorf("%q does not tell of %q", got.On, part)
		}
	}
	if _, err := os.Stat("/proc/self/sched"); err == nil && (!got.Exact || got.Seconds > 10) {
		t.Errorf("%.3f s, exact %v", got.Seconds, got.Exact)
	}
}
