package blocked

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/syscalls/uring"
)

func TestWaiting(t *testing.T) {
	ring := func(completed uint64, waits map[uint32]int) uring.Ring {
		return uring.Ring{Completed: completed, Counted: true, Waits: waits}
	}
	before := map[ringOf]uring.Ring{
		{1, 5}: ring(100, map[uint32]int{27: 3, 23: 1}), // stands still
		{1, 6}: ring(100, map[uint32]int{27: 3}),        // goes on
		{1, 7}: ring(100, nil),                          // was idle
		{1, 8}: {Waits: map[uint32]int{27: 1}},          // of a kernel that does not count
		{1, 9}: ring(100, map[uint32]int{27: 3}),        // is closed
	}
	after := map[ringOf]uring.Ring{
		{1, 5}: ring(100, map[uint32]int{27: 4, 23: 1, 13: 1}),
		{1, 6}: ring(101, map[uint32]int{27: 3}),
		{1, 7}: ring(100, map[uint32]int{27: 3}),
		{1, 8}: {Waits: map[uint32]int{27: 1}},
		{2, 5}: ring(100, map[uint32]int{27: 3}), // is new
	}
	got := waiting(t.TempDir(), before, after)
	want := []Waiting{{PID: 1, FD: 5, Call: "io_uring:recv", N: 3, Idle: true}, {PID: 1, FD: 5, Call: "io_uring:write", N: 1}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := uncounted(after); n != 1 {
		t.Errorf("%d rings that are not counted", n)
	}
}

// TestRingThatWaits looks at a program that has one receive of io_uring in flight.
func TestRingThatWaits(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to read another process' rings in a container")
	}
	exe := filepath.Join(t.TempDir(), "uring")
	out, err := exec.Command("gcc", "-O1", "-o", exe, "../syscalls/testdata/uring.c", "-luring").CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) || strings.Contains(string(out), "liburing.h: No such file") {
		t.Fatal("needs gcc and liburing-dev: make setup")
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(exe)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	fmt.Fprintln(in, "go")
	for lines := bufio.NewScanner(said); lines.Scan() && lines.Text() != "done"; {
	}
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), SelfPID: os.Getpid()}
	found := Look(context.Background(), env, []int{cmd.Process.Pid}, 200*time.Millisecond, 100)
	if len(found.Waiting) != 1 || found.Waiting[0].Call != "io_uring:recv" || found.Waiting[0].N != 1 || !found.Waiting[0].Idle || found.Waiting[0].Comm != "uring" {
		if len(found.Warnings) > 0 && strings.Contains(found.Warnings[0], "from 5.19 on") {
			t.Skip("this kernel does not show whether operations completed")
		}
		t.Errorf("%+v", found)
	}
}
