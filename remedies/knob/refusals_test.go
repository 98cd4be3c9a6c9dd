package knob

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// TestAReadOnlyProc is that of a container: here of one thread, which ends with it.
func TestAReadOnlyProc(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a mount takes root")
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread goes, and its mounts with it
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
				return err
			}
			if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
				return err
			}
			if err := unix.Mount("/proc/sys", "/proc/sys", "", unix.MS_BIND, ""); err != nil {
				return err
			}
			if err := unix.Mount("none", "/proc/sys", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
				return err
			}
			target := plan.Target{Kind: "sysctl", Name: "vm.swappiness"}
			now, err := Kinds["sysctl"].Read(Real(), target)
			if err != nil {
				return err
			}
			return Kinds["sysctl"].Write(Real(), target, now)
		}()
	}()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "it can't be written: run as root, on the host itself (in a container /proc/sys is read-only)") {
		t.Errorf("a read-only /proc/sys: %v", err)
	}
}

// TestAnInterfaceThatGoes takes each kind's interface away between reading and writing.
func TestAnInterfaceThatGoes(t *testing.T) {
	name, in := namespace(t, pair, "ip link set nic0 up", "ip route add 10.10.0.0/16 dev nic0")
	targets := map[plan.Target]string{
		{Kind: "qdisc", Device: "nic0", Netns: name}:                                          "pfifo limit 5",
		{Kind: "channels", Name: "rx", Device: "nic0", Netns: name}:                           "2",
		{Kind: "feature", Name: "rx-gro", Device: "nic0", Netns: name}:                        "on",
		{Kind: "txqueuelen", Device: "nic0", Netns: name}:                                     "5",
		{Kind: "rps", Device: "nic0", Queue: pointer(0), Netns: name}:                         "1",
		{Kind: "sysctl", Name: "net.ipv4.conf.nic0.rp_filter", Netns: name}:                   "2",
		{Kind: "route", Name: "quickack", Route: "10.10.0.0/16", Device: "nic0", Netns: name}: "1",
	}
	for target := range targets {
		if _, err := Kinds[target.Kind].Read(Real(), target); err != nil {
			t.Error(err)
		}
	}
	output(t, in("ip link delete nic0")...)()
	for target, value := range targets {
		if err := Kinds[target.Kind].Write(Real(), target, value); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v, want that it is gone", target, err)
		}
	}
}

// TestWhoMayNotWrite runs as nobody: the error says what it takes.
func TestWhoMayNotWrite(t *testing.T) {
	if os.Getenv("SNAG_TEST_AS_NOBODY") == "" {
		if os.Geteuid() != 0 {
			t.Skip("to become nobody takes root")
		}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(self) // where nobody may run it
		if err != nil {
			t.Fatal(err)
		}
		path := os.TempDir() + "/snagtest" + strconv.Itoa(os.Getpid())
		if err := os.WriteFile(path, b, 0o755); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Remove(path) }()
		cmd := exec.Command(path, "-test.run=^TestWhoMayNotWrite$", "-test.v")
		cmd.Dir = "/"
		cmd.Env = append(os.Environ(), "SNAG_TEST_AS_NOBODY=1")
		cmd.SysProcAttr = &unix.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, unix.EACCES) {
			t.Skip("nobody may not run a program in ", os.TempDir())
		}
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	for target, value := range map[plan.Target]string{
		{Kind: "qdisc", Device: "lo"}:                   "pfifo limit 5",
		{Kind: "feature", Name: "rx-gro", Device: "lo"}: "off",
		{Kind: "sysctl", Name: "vm.swappiness"}:         "60",
		{Kind: "txqueuelen", Device: "lo"}:              "5",
		{Kind: "thp", Name: "enabled"}:                  "madvise",
	} {
		if err := Kinds[target.Kind].Write(Real(), target, value); err == nil || !strings.Contains(err.Error(), "run as root") && !errors.Is(err, unix.EPERM) {
			t.Errorf("%s: %v", target, err)
		}
	}
}
