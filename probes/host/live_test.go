package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// liveEnv is this machine as a probe sees it.
func liveEnv(t testing.TB) (*probe.Env, *probetest.Sink) {
	t.Helper()
	own, err := netns.IDOf("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	sink := probetest.NewSink()
	return &probe.Env{
		Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Netns: own,
		Sink: sink, Watch: probe.NewWatch(64), Notice: sink.Notice,
	}, sink
}

// live is a prober that the test ticks by hand.
func live(t testing.TB) (*prober, *probe.Env, *probetest.Sink) {
	t.Helper()
	env, sink := liveEnv(t)
	machine, err := newMachine(env)
	if err != nil {
		t.Fatal(err)
	}
	p := newProber(env, machine)
	t.Cleanup(p.spaces.close)
	p.meter.since = env.Now()
	p.meter.work.Begin()
	t.Cleanup(p.meter.work.End)
	return p, env, sink
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root to make network namespaces and control groups")
	}
}

// namespace makes a network namespace with lo up, that the test removes.
func namespace(t testing.TB, name string) netns.Namespace {
	t.Helper()
	needRoot(t)
	name = fmt.Sprintf("snag%s%d", name, os.Getpid())
	run(t, "ip", "netns", "add", name)
	t.Cleanup(func() { exec.Command("ip", "netns", "del", name).Run() })
	run(t, "ip", "-n", name, "link", "set", "lo", "up")
	path := filepath.Join("/run/netns", name)
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return netns.Namespace{ID: inode(st), Name: name, Path: path}
}

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

// child starts a process that the test ends.
func child(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// increase is how much the one series that matches grew.
func increase(t testing.TB, r *recording.Recording, name string, pairs ...string) float64 {
	t.Helper()
	found := r.Select(name, pairs...)
	if len(found) != 1 {
		t.Fatalf("%d series %s%v, want 1", len(found), name, pairs)
	}
	v, ok := found[0].Increase()
	if !ok {
		t.Fatalf("%s%v was measured once only", name, pairs)
	}
	return v
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 200 {
		if ok() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}
