package knob

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"snag/remedies/plan"
)

// turn sets a target to another value and back, on the real kernel, and looks after
// it by another program's eyes.
func turn(t *testing.T, target plan.Target, to string, see func() string, want string) {
	t.Helper()
	h, k := Real(), Kinds[target.Kind]
	old, err := k.Read(h, target)
	if err != nil {
		t.Fatal(err)
	}
	before := see()
	if err := k.Valid(target, to); err != nil {
		t.Fatal(err)
	}
	if err := k.Write(h, target, to); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Read(h, target); err != nil || !k.Same(target, got, to) {
		t.Errorf("%s: %q, %v; want %q", target, got, err, to)
	}
	if got := see(); !strings.Contains(got, want) {
		t.Errorf("%s: others see %q, want %q", target, got, want)
	}
	if err := k.Write(h, target, old); err != nil {
		t.Fatal(err)
	}
	if got := see(); got != before {
		t.Errorf("%s: put back, others see %q, and saw %q before", target, got, before)
	}
}

func output(t *testing.T, args ...string) func() string {
	return func() string {
		t.Helper()
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
}

func TestSettingsOfANamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	name := "snagtest" + strconv.Itoa(os.Getpid())
	output(t, "ip", "netns", "add", name)()
	t.Cleanup(func() { output(t, "ip", "netns", "delete", name)() })
	in := func(args ...string) []string { return append([]string{"ip", "netns", "exec", name}, args...) }
	for _, args := range [][]string{
		in("ip", "link", "add", "nic0", "type", "veth", "peer", "name", "nic1"), in("ip", "address", "add", "10.9.0.1/24", "dev", "nic0"),
		in("ip", "link", "set", "nic0", "up"), in("ip", "route", "add", "10.10.0.0/16", "via", "10.9.0.2", "metric", "7"),
	} {
		output(t, args...)()
	}
	turn(t, plan.Target{Kind: "sysctl", Name: "net.core.somaxconn", Netns: name}, "16384", output(t, in("cat", "/proc/sys/net/core/somaxconn")...), "16384")
	turn(t, plan.Target{Kind: "sysctl", Name: "net.ipv4.tcp_rmem", Netns: name}, "4096 131072 16777216", output(t, in("cat", "/proc/sys/net/ipv4/tcp_rmem")...), "16777216")
	turn(t, plan.Target{Kind: "txqueuelen", Device: "nic0", Netns: name}, "5000", output(t, in("ip", "-d", "link", "show", "dev", "nic0")...), "qlen 5000")
	turn(t, plan.Target{Kind: "route", Name: "quickack", Route: "10.10.0.0/16", Netns: name}, "1", output(t, in("ip", "route", "show", "10.10.0.0/16")...), "quickack 1")
	turn(t, plan.Target{Kind: "route", Name: "mtu", Route: "10.9.0.0/24", Netns: name}, "1400", output(t, in("ip", "route", "show", "10.9.0.0/24")...), "mtu 1400")
	_, err := Kinds["route"].Read(Real(), plan.Target{Kind: "route", Name: "quickack", Route: "192.0.2.0/24", Netns: name})
	if !errors.Is(err, ErrAbsent) {
		t.Errorf("a route that is not there: %v", err)
	}
	_, err = Kinds["txqueuelen"].Read(Real(), plan.Target{Kind: "txqueuelen", Device: "nic7", Netns: name})
	if !errors.Is(err, ErrAbsent) {
		t.Errorf("an interface that is not there: %v", err)
	}
}

func TestLimitOfARunningProcess(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	started, err := Started("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	target := plan.Target{Kind: "nofile", PID: cmd.Process.Pid, Started: started}
	old, err := Kinds["nofile"].Read(Real(), target)
	if err != nil {
		t.Fatal(err)
	}
	_, hard, _ := strings.Cut(old, ":") // a lowered hard limit takes CAP_SYS_RESOURCE to put back
	turn(t, target, "123:"+hard, output(t, "grep", "open files", "/proc/"+strconv.Itoa(cmd.Process.Pid)+"/limits"), "123   ")
	target.Started++
	if err := Kinds["nofile"].Write(Real(), target, "99:99"); !errors.Is(err, ErrAbsent) {
		t.Errorf("another process with that number: %v", err)
	}
}

func TestQuotaOfAControlGroup(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making a control group needs root")
	}
	base, see := "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		base, see = "/sys/fs/cgroup", "cpu.max"
	}
	dir := filepath.Join(base, "snagtest"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(dir) }()
	turn(t, plan.Target{Kind: "cpu-quota", Path: "/" + filepath.Base(dir)}, "70000 100000", output(t, "cat", filepath.Join(dir, see)), "70000")
}
