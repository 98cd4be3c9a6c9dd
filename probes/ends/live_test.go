package ends

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// during is the recording of what do does.
func during(t *testing.T, do func()) *recording.Recording {
	t.Helper()
	if lack := kernel.CanLoad("/proc", "/sys"); lack != nil {
		if os.Geteuid() == 0 {
			t.Fatal(lack)
		}
		t.Skip(lack)
	}
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Sink: sink, Watch: probe.NewWatch(100), Notice: func(string) {}}
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	do()
	r.Stop()
	return sink.Recording()
}

// run starts a shell, lets it run for a while, sends it a signal where one is given, and
// waits for its end.
func run(t *testing.T, script string, live time.Duration, signal syscall.Signal) *exec.Cmd {
	t.Helper()
	c := exec.Command("sh", "-c", script)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(live)
	if signal != 0 {
		if err := c.Process.Signal(signal); err != nil {
			t.Error(err)
		}
	}
	_ = c.Wait()
	return c
}

func TestProcessesThatEnd(t *testing.T) {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil { // no core file of the crash
		t.Fatal(err)
	}
	var all []*exec.Cmd
	rec := during(t, func() {
		all = append(all, run(t, "exit 0", 0, 0), run(t, "exit 3", 0, 0), run(t, "exec sleep 60", 300*time.Millisecond, syscall.SIGKILL),
			run(t, "kill -SEGV $$", 0, 0), run(t, "trap 'exit 7' TERM; while :; do sleep 0.05; done", 200*time.Millisecond, syscall.SIGTERM))
	})
	rows := map[int]recording.Exit{}
	for _, e := range rec.Exits {
		if _, twice := rows[e.PID]; twice && e.PID != 0 {
			t.Errorf("process %d ended twice", e.PID)
		}
		rows[e.PID] = e
	}
	for i, want := range []recording.Exit{
		{Comm: "sh"}, {Comm: "sh", Status: 3}, {Comm: "sleep", Signal: "SIGKILL", Age: 0.3}, {Comm: "sh", Signal: "SIGSEGV"}, {Comm: "sh", Status: 7, Age: 0.2},
	} {
		got, ok := rows[all[i].Process.Pid]
		state := all[i].ProcessState.Sys().(syscall.WaitStatus)
		if !ok || got.Comm != want.Comm || got.Signal != want.Signal || got.Status != want.Status || got.PPID != os.Getpid() || got.N != 1 ||
			got.Core != state.CoreDump() || got.Netns == 0 || got.Age < want.Age || got.Age > want.Age+5 || got.T <= rec.Manifest.Start {
			t.Errorf("%v: %+v, want %+v", all[i].Args, got, want)
		}
	}
	if c, ok := rec.Measured("ends"); !ok || c.State != recording.CoverageOK || c.Lost > 0 {
		t.Errorf("coverage %+v, want ok", c)
	}
}

// A program whose first thread ends before the others has one end, with the status of the
// last word of them; and one thread that ends is none.
func TestThreadsAreNoProcesses(t *testing.T) {
	const program = `
import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(0.01,)).start()
threading.Thread(target=lambda: (time.sleep(0.3), os._exit(5))).start()
ctypes.CDLL(None).pthread_exit(None)`
	c := exec.Command("python3", "-c", program)
	rec := during(t, func() { _ = c.Run() })
	if c.ProcessState == nil {
		t.Skip("no python3")
	}
	var got []recording.Exit
	for _, e := range rec.Exits {
		if e.PID == c.Process.Pid {
			got = append(got, e)
		}
	}
	if len(got) != 1 || got[0].Status != 5 || got[0].Signal != "" || got[0].Age < 0.25 {
		t.Errorf("%+v, want one end with status 5", got)
	}
}

// Many short ones share a row, and none of them is missing.
func TestManyShortOnes(t *testing.T) {
	const n = 300
	c := exec.Command("sh", "-c", fmt.Sprintf("i=0; while [ $i -lt %d ]; do (exit 4); i=$((i+1)); done", n))
	rec := during(t, func() {
		if err := c.Run(); err != nil {
			t.Error(err)
		}
	})
	sum, rows := uint64(0), 0
	for _, e := range rec.Exits {
		if e.PPID == c.Process.Pid {
			if e.Status != 4 || e.Signal != "" {
				t.Errorf("%+v", e)
			}
			sum += e.N
			rows++
		}
	}
	if sum != n || rows > n/2 {
		t.Errorf("%d ends in %d rows, want %d in fewer", sum, rows, n)
	}
	if c, _ := rec.Measured("ends"); c.Lost > 0 {
		t.Errorf("coverage %+v", c)
	}
}
