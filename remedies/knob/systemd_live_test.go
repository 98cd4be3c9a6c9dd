package knob

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"snag/internal/systemdtest"
	"snag/remedies/plan"
)

// inNamespaces runs systemd as the first process of namespaces of its own, with a
// control group of its own, a /run of its own, and one service. The machine's disk and
// /proc/sys are read-only there, and sysinit.target is masked: all units but these two
// want it, and what it starts empties /tmp and writes logs (systemd-tmpfiles-setup,
// journald) as at a boot of the machine.
const inNamespaces = `set -e
mkdir "$1/cgroup"; mount -t cgroup2 none "$1/cgroup"; mkdir "$1/cgroup/$2"; echo $$ > "$1/cgroup/$2/cgroup.procs"
exec unshare -C -p -f -u -i -m --mount-proc sh -c '
set -e
mount --bind /proc/sys /proc/sys; mount -o remount,bind,ro /proc/sys
mount -o remount,bind,ro /
mount -t tmpfs tmpfs /run; mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /run/systemd/system
for unit in sysinit.target basic.target rescue.target emergency.target; do ln -s /dev/null /run/systemd/system/$unit; done
printf "[Unit]\nDefaultDependencies=no\n" > /run/systemd/system/snag.target
printf "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/bin/sleep 300\n" > /run/systemd/system/snagtest.service
exec env container=snag /lib/systemd/systemd --unit=snag.target --log-target=console --show-status=0'`

// TestUnitsOfSystemd sets properties in a systemd of the test's own, and asks it by
// systemctl. systemd speaks to processes that it sees alone: the test runs again in its
// namespaces.
func TestUnitsOfSystemd(t *testing.T) {
	if os.Getenv("SNAG_TEST_IN_SYSTEMD") == "" {
		pid := systemdtest.Boot(t, nil, inNamespaces, t.TempDir())
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("nsenter", "-t", strconv.Itoa(pid), "-m", "-p", "-C", "-u", "-i", self, "-test.run=^TestUnitsOfSystemd$", "-test.v", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), "SNAG_TEST_IN_SYSTEMD=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestUnitsOfSystemd") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	h, root := Real(), "/run"
	in := func(words string) func() string { return output(t, strings.Fields(words)...) }
	in("systemctl start snagtest.service")()
	for _, c := range []struct{ name, then, property, want string }{
		{"CPUQuota", "150%", "CPUQuotaPerSecUSec", "=1.500000s"}, {"TasksMax", "1000", "TasksMax", "=1000"}, {"MemoryHigh", "104857600", "MemoryHigh", "=104857600"},
		{"CPUWeight", "500", "CPUWeight", "=500"}, {"LimitNOFILE", "65536:524288", "LimitNOFILESoft", "=65536"}, {"NUMAPolicy", "bind", "NUMAPolicy", "=bind"},
		{"NUMAMask", "0", "NUMAMask", "=0"}, {"CPUAffinity", "0", "CPUAffinity", "=0"},
	} {
		target := plan.Target{Kind: "unit", Unit: "snagtest.service", Name: c.name}
		see := in("systemctl show snagtest.service -p " + c.property)
		k := Kinds["unit"]
		old, err := k.Read(h, target)
		if err != nil {
			t.Fatal(err)
		}
		before := see()
		if err := k.Write(h, target, c.then); err != nil {
			t.Error(err)
		}
		if got, err := k.Read(h, target); err != nil || !k.Same(target, got, c.then) || !strings.Contains(see(), c.want) {
			t.Errorf("%s: %q, %v; systemctl says %q, want %q", target, got, err, see(), c.want)
		}
		if err := k.Write(h, target, old); err != nil || see() != before {
			t.Errorf("%s put back to %q: %v; systemctl says %q, and said %q", target, old, err, see(), before)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(root, "systemd/system/snagtest.service.d/*")); left != nil {
		t.Errorf("what was put back left %v", left)
	}
	if running := in("systemctl is-active snagtest.service")(); strings.TrimSpace(running) != "active" {
		t.Errorf("the service is %s: something restarted or ended it", running)
	}
	gone := plan.Target{Kind: "unit", Unit: "no-such-unit.service", Name: "TasksMax"}
	if _, err := Kinds["unit"].Read(h, gone); err == nil || !strings.Contains(err.Error(), "not-found") {
		t.Errorf("a unit that is not there: %v", err)
	}
}
