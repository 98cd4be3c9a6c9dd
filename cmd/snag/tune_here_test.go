package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/internal/netns"
)

// A namespace without a name is named by a process that is in it.
func TestANamespaceWithoutANameIsAProcess(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	pid := strconv.Itoa(cmd.Process.Pid)
	id, err := netns.IDOf("/proc/" + pid + "/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if name, ok := netnsName(id); !ok || name != "pid:"+pid {
		t.Errorf("%q, %v, want pid:%s", name, ok, pid)
	}
	own, err := hostNetns()
	if err != nil {
		t.Fatal(err)
	}
	if name, ok := netnsName(own); !ok || name != "" {
		t.Errorf("the host's own: %q, %v", name, ok)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for range 50 { // the kernel clears up behind it
		if _, ok := netnsName(id); !ok {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("nobody is in it, and still it has a name")
}

func TestRates(t *testing.T) {
	for text, want := range map[string]float64{"40mbit": 40e6, "2.5Gbit": 2.5e9, "800kbit": 8e5, "64000": 64000, "9000bit": 9000} {
		if got, err := parseRate(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "fast", "mbit", "-4mbit", "0", "nan", "1e30gbit", "10mbps"} {
		if got, err := parseRate(text); err == nil || !strings.Contains(err.Error(), "is not a rate") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
