package load

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inChild says which of the cases of TestFewOpenFiles a process of its own runs: the limit is of the whole process.
const inChild = "SNAG_TEST_FEW_FILES"

// Too few open files are an error before anything is sent, with the cure, and the empty server counts as well.
func TestFewOpenFiles(t *testing.T) {
	if which := os.Getenv(inChild); which != "" {
		fewOpenFiles(t, which)
		return
	}
	for _, which := range []string{"run", "calibrate", "mid-run"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFewOpenFiles$", "-test.v")
		cmd.Env = append(os.Environ(), inChild+"="+which)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%s: %v\n%s", which, err, out)
		}
	}
}

func fewOpenFiles(t *testing.T, which string) {
	const most = 200
	to := target(t, "tcp://127.0.0.1:9", Request{Size: 8, Reply: 8})
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: most}); err != nil {
		t.Fatal(err)
	}
	p := plan(to)
	p.For = 200 * time.Millisecond
	switch which {
	case "run":
		p.Conns = 170
		wantError(t, func() error { _, err := Run(context.Background(), p); return err }, "170 connections need 220 open files, and this process may have 200: ulimit -n 220 before it")
	case "calibrate":
		p.Conns = 100 // 150 for the load alone
		wantError(t, func() error { _, err := Calibrate(context.Background(), p); return err }, "which has as many itself, need 250 open files, and this process may have 200: ulimit -n 250 before it")
		p.Conns = 70
		if r, err := Calibrate(context.Background(), p); err != nil || r.Done == 0 {
			t.Errorf("140 fit: %v", err)
		}
	case "mid-run": // others of this process have files open, which is not counted before
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			f, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
		}
		p.Target, p.Conns = target(t, "tcp://"+l.Addr().String(), Request{Size: 8, Reply: 8}), 140
		wantError(t, func() error { _, err := Run(context.Background(), p); return err }, "this process has as many files open as it may: ulimit -n 380 before it")
	}
}

func wantError(t *testing.T, run func() error, want string) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	case <-time.After(20 * time.Second):
		t.Error("it hangs")
	}
}

// Errors of sockets have a cure where there is one.
func TestNoSocket(t *testing.T) {
	t.Parallel()
	p := Plan{Conns: 10}
	for err, want := range map[error]string{
		unix.EMFILE: "ulimit -n 120 before it", unix.ENFILE: "sysctl fs.file-max", unix.EACCES: "make a socket: permission denied",
	} {
		if got := p.noSocket(err); !strings.Contains(got.Error(), want) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if !errors.Is(p.noSocket(unix.EACCES), unix.EACCES) {
		t.Error("the error itself is gone")
	}
}
