package lab_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

// holdCommand makes this test binary build a stage and wait to be killed.
const holdCommand = "hold-a-stage"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == holdCommand {
		hold()
		return
	}
	labtest.Main(m)
}

// hold runs an incident that has one of each kind of thing beside a `snag find`
// that does not end, and prints what a test must look for.
func hold() {
	all := lab.Incident{Name: "all", Start: func(s *lab.Stage, _ lab.Variant) error {
		a, b := s.Netns("a"), s.Netns("b")
		s.Veth(lab.End{Netns: a, Device: "eth0", Addr: "10.77.99.1/24"}, lab.End{Netns: b, Device: "eth0", Addr: "10.77.99.2/24"})
		c := s.Cgroup("c", 0.5)
		actor := s.Actor(a, "held-actor", "sleeper", nil, lab.In(c))
		// A child that leaves the group and the session, as a daemon does.
		s.Run(b, "daemon", []string{"setsid", "--fork", "sleep", "299"}, lab.MayEnd())
		s.AwaitPrinted(actor, "ready")
		s.Pause(300 * time.Millisecond)
		if s.Err() == nil {
			fmt.Println(s.Dir(), a, b, c.Path)
		}
		return s.Err()
	}}
	_, err := lab.Run(context.Background(), all, lab.Sick, lab.RunOptions{SnagPath: os.Args[2], For: time.Second, Shared: true})
	fmt.Println("error:", err)
}

// held is what hold printed.
type held struct {
	dir, cgroup string
	netns       []string
}

// left lists what of it is still there.
func (h held) left() []string {
	var out []string
	for _, n := range h.netns {
		if _, err := os.Stat("/run/netns/" + n); err == nil {
			out = append(out, "netns "+n)
		}
	}
	for _, path := range []string{h.dir, h.cgroup} {
		if _, err := os.Stat(path); err == nil {
			out = append(out, path)
		}
	}
	token := "SNAG_LAB_STAGE=" + filepath.Base(h.dir)
	envs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, e := range envs {
		if raw, err := os.ReadFile(e); err == nil && strings.Contains(string(raw), token) {
			out = append(out, e)
		}
	}
	return out
}

func TestKilledStageLeavesNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	endless := filepath.Join(t.TempDir(), "snag")
	if err := os.WriteFile(endless, []byte("#!/bin/sh\nsleep 299\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, holdCommand, endless)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	f := strings.Fields(line)
	if err != nil || len(f) != 4 {
		_ = cmd.Process.Kill()
		t.Fatalf("the stage printed %q, %v", line, err)
	}
	h := held{dir: f[0], netns: f[1:3], cgroup: f[3]}
	// Both namespaces, the folder, the cgroup; the actor, the daemon, find and its child.
	for deadline := time.Now().Add(10 * time.Second); len(h.left()) < 8 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	if left := h.left(); len(left) < 8 {
		t.Errorf("before the kill there is only %v: the test would prove nothing", left)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	deadline := time.Now().Add(15 * time.Second)
	for len(h.left()) > 0 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	if left := h.left(); len(left) > 0 {
		t.Errorf("15 s after kill -9 there is still: %v", left)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	s, err := lab.NewStage(context.Background(), lab.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	ns := s.Netns("only")
	c := s.Cgroup("only", 0.1)
	p := s.Actor(ns, "busy-actor", "burner", nil, lab.In(c))
	s.AwaitPrinted(p, "ready")
	stopped := s.Actor(ns, "stopped-actor", "sleeper", nil)
	s.AwaitPrinted(stopped, "ready")
	s.Signal(stopped, syscall.SIGSTOP)
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	comm, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/comm")
	if err != nil || strings.TrimSpace(string(comm)) != "busy-actor" {
		t.Errorf("the actor is called %q, %v", comm, err)
	}
	h := held{dir: s.Dir(), cgroup: c.Path, netns: []string{ns}}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left := h.left(); len(left) > 0 {
		t.Errorf("after Close there is still: %v", left)
	}
}

func TestStageKeepsTheFirstError(t *testing.T) {
	s := labtest.Stage(t)
	s.Command("", "ip", "link", "show", "no-such-device")
	first := s.Err()
	if first == nil || !strings.Contains(first.Error(), "no-such-device") {
		t.Fatalf("got %v", first)
	}
	s.Command("", "false")
	p := s.Actor("", "never", "sleeper", nil)
	if !errors.Is(s.Err(), first) || p.PID != 0 {
		t.Errorf("after the first failure: %v, process %d", s.Err(), p.PID)
	}
}

func TestAwaitTellsWhoEnded(t *testing.T) {
	s := labtest.Stage(t)
	s.Actor("", "misfit", "udp-sink", []string{"--listen", "192.0.2.1:1"})
	s.Await("what never comes", 20*time.Second, func() (bool, error) { return false, nil })
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "misfit ended") {
		t.Errorf("got %v", err)
	}
}
