package sockets

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// TestMain lets the test run itself as another user.
func TestMain(m *testing.M) {
	if os.Getenv("SNAG_TEST_UNPRIVILEGED") != "" {
		unprivileged()
		return
	}
	os.Exit(m.Run())
}

// unprivileged runs the probe for two seconds beside a socket of its own.
func unprivileged() {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	own, _ := netns.IDOf("/proc/self/ns/net")
	sink := probetest.NewSink()
	r, err := Probe.Start(context.Background(), &probe.Env{
		Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), Netns: own, Sink: sink,
		Watch: probe.NewWatch(10), Notice: sink.Notice,
	})
	if err != nil {
		panic(err)
	}
	time.Sleep(1500 * time.Millisecond)
	r.Stop()
	rec := sink.Recording()
	json.NewEncoder(os.Stdout).Encode(rec)
}

func TestWithoutRootItDoesWhatItMay(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become somebody else")
	}
	dir, err := os.MkdirTemp("", "snag-unprivileged")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.Chmod(dir, 0o755)
	self := filepath.Join(dir, "self")
	in, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(self, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(out, in)
	out.Close()
	b := newBench(t) // another namespace, which it may not enter
	b.listen("127.0.0.1:7011")
	cmd := exec.Command(self)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "SNAG_TEST_UNPRIVILEGED=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var rec recording.Recording
	if err := json.Unmarshal(text, &rec); err != nil {
		t.Fatal(err)
	}
	owned := false
	for _, s := range rec.Sockets {
		owned = owned || (s.State == "LISTEN" && len(s.Owners) == 1 && s.Owners[0].PID == cmd.Process.Pid)
	}
	if !owned {
		t.Errorf("its own listener is not among %d sockets", len(rec.Sockets))
	}
	for measure, want := range map[string]string{
		"sockets.diag":        recording.CoveragePartial,
		"sockets.owner":       recording.CoveragePartial,
		"sockets.options":     recording.CoverageUnavailable,
		"sockets.connections": recording.CoverageUnavailable,
		"sockets.holds":       recording.CoverageUnavailable,
		"sockets.signals":     recording.CoverageUnavailable,
	} {
		c, _ := rec.Measured(measure)
		if c.State != want || c.Why == "" || !strings.Contains(c.Cure, "CAP_") {
			t.Errorf("%s: %+v, want %s with the missing capability", measure, c, want)
		}
	}
}
