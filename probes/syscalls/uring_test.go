package syscalls

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"snag/probes/probe/probetest"
	"snag/recording"
)

// uringProgram compiles testdata/uring.c.
func uringProgram(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "uring")
	out, err := exec.Command("gcc", "-O1", "-o", exe, "testdata/uring.c", "-luring").CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) || bytes.Contains(out, []byte("liburing.h: No such file")) {
		t.Fatal("needs gcc and liburing-dev: make setup")
	}
	if err != nil {
		t.Fatalf("%v: %s", err, bytes.TrimSpace(out))
	}
	return exe
}

// TestOperationsOfIOUring counts what a program does that makes known numbers of
// operations, with a thread of its own to submit them or one of the kernel's.
func TestOperationsOfIOUring(t *testing.T) {
	exe := uringProgram(t)
	for name, poller := range map[string]bool{"by itself": false, "by a poller": true} {
		t.Run(name, func(t *testing.T) {
			rec, pid, fds := recordRing(t, exe, poller)
			if c := coverageOf(t, rec, measureUring); c.State != recording.CoverageOK {
				t.Fatalf("coverage %+v", c)
			}
			for _, want := range []struct {
				op       string
				fd       int
				n, bytes uint64
				failed   map[string]uint64
			}{
				{"nop", -1, 540, 0, nil}, // 40 of them ask for no completion
				{"read", fds[0], 1000, 1000 * 4096, nil},
				{"send", fds[1], 300, 3000, nil},
				{"recv", fds[2], 300, 3000, nil},
				{"openat", -1, 50, 0, map[string]uint64{"ENOENT": 50}},
				{"poll_add", fds[3], 21, 0, map[string]uint64{"ECANCELED": 1}},
				{"poll_remove", -1, 1, 0, nil},
			} {
				name := recording.UringPrefix + want.op
				got := total(rec, pid, name, want.fd)
				if all := total(rec, pid, name, -1); got.N != want.n || all.N != want.n {
					t.Errorf("%s: %d counted, %d on descriptor %d, want %d", name, all.N, got.N, want.fd, want.n)
				}
				if fmt.Sprint(got.Errors) != fmt.Sprint(want.failed) {
					t.Errorf("%s failed %v, want %v", name, got.Errors, want.failed)
				}
				if valueOf(got.Done) != want.bytes {
					t.Errorf("%s moved %d bytes, want %d", name, valueOf(got.Done), want.bytes)
				}
			}
			if sum := total(rec, pid, recording.UringPrefix+"read", -1); sum.Sum <= 0 || sum.Max <= 0 || sum.Max > sum.Sum {
				t.Errorf("reads took %g s, the longest %g", sum.Sum, sum.Max)
			}
			if n := total(rec, pid, recording.UringPrefix+"unknown", -1).N; n != 0 {
				t.Errorf("%d completions of operations that are not known", n)
			}
			for fd, kind := range map[int]string{fds[0]: "device", fds[1]: "socket", fds[3]: "pipe"} {
				if row := fdWith(rec, func(f recording.FD) bool { return f.PID == pid && f.FD == fd }); row == nil || row.Kind != kind {
					t.Errorf("descriptor %d: %+v, want a %s", fd, row, kind)
				}
			}
			hanging(t, rec, pid, fds[2])
		})
	}
}

// hanging wants the receive that goes on told as an event.
func hanging(t *testing.T, rec *recording.Recording, pid, fd int) {
	t.Helper()
	for _, e := range rec.Events {
		a := e.Attrs
		if e.Kind == recording.EventBlocked && e.Subject.PID == pid && e.End == 0 && a["call"] == recording.UringPrefix+"recv" {
			if a["fd"] != fmt.Sprint(fd) || a["async"] != "yes" || a["idle"] != "yes" || e.Value < 1 {
				t.Errorf("the receive that goes on: %+v", e)
			}
			return
		}
	}
	t.Errorf("no event of the receive that goes on: %+v", rec.Events)
}

func recordRing(t *testing.T, exe string, poller bool) (rec *recording.Recording, pid int, fds [4]int) {
	t.Helper()
	cmd := exec.Command(exe)
	if poller {
		cmd.Env = append(cmd.Environ(), "SQPOLL=1")
	}
	p := startProgram(t, cmd)
	line := p.answer()
	if n, err := fmt.Sscanf(line, "fds %d %d %d %d", &fds[0], &fds[1], &fds[2], &fds[3]); n != 4 {
		t.Fatalf("the program says %q: %v", line, err)
	}
	sink := probetest.NewSink()
	r := begin(t, env(t, sink, cmd.Process.Pid))
	if l := p.tell("x"); l != "done\n" {
		t.Fatalf("the program says %q", l)
	}
	time.Sleep(1200 * time.Millisecond) // the last receive is in flight for a second
	r.Stop()
	return sink.Recording(), cmd.Process.Pid, fds
}

func TestOperationsAreCallsOfTheirOwn(t *testing.T) {
	if got := callName(27 | uringBit); got != recording.UringPrefix+"recv" {
		t.Errorf("opcode 27 is %q", got)
	}
	if bytes, asked := moves("io_uring:read"); !bytes || asked {
		t.Errorf("a read moves bytes: %v, of which is known how many were asked for: %v", bytes, asked)
	}
}
