package persist

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/internal/systemdtest"
	"snag/remedies/export"
	"snag/remedies/knob"
	"snag/remedies/plan"
)

// boot runs systemd as the first process of namespaces of its own: two interfaces, the
// test's /etc, and no units but the test's and those few that a boot needs, so that
// nothing of this machine is started or cleaned; its disk is read-only there. Of /proc/sys only net may be written,
// which is the namespace's own. There is no udev: its word on the interface, by which
// systemd has a unit for it, is written as its rules do (99-systemd.rules).
const boot = `set -e
mkdir "$1/cgroup"; mount -t cgroup2 none "$1/cgroup"; mkdir "$1/cgroup/$2"; echo $$ > "$1/cgroup/$2/cgroup.procs"
mount -t sysfs sysfs /sys
ip link add nic0 numtxqueues 2 numrxqueues 2 type veth peer name nic1
ip address add 10.9.0.1/24 dev nic0; ip link set nic0 up; ip link set nic1 up; ip route add 10.10.0.0/16 via 10.9.0.2 metric 7 mtu 1450
exec unshare -C -p -f -u -i -m --mount-proc sh -c '
set -e
mount --bind /proc/sys /proc/sys; mount --bind /proc/sys/net /proc/sys/net; mount -o remount,bind,ro /proc/sys
mount -t tmpfs tmpfs /run; mount -t cgroup2 none /sys/fs/cgroup
units=$(readlink -f /lib/systemd/system)
cp "$units/systemd-sysctl.service" /run/
mount -t tmpfs tmpfs "$units"; mv /run/systemd-sysctl.service "$units"
for t in sysinit basic shutdown network-online; do printf "[Unit]\nDefaultDependencies=no\n" > "$units/$t.target"; done
printf "Wants=systemd-sysctl.service\n" >> "$units/sysinit.target"
printf "[Unit]\nRequires=basic.target\nAfter=basic.target\n" > "$units/multi-user.target"
mount --bind "$1/etc" /etc
n=n$(cat /sys/class/net/nic0/ifindex)
mkdir -p /run/systemd/system /run/udev/data /run/udev/tags/systemd
mount -o remount,bind,ro /
printf "I:1\nE:SYSTEMD_ALIAS=/sys/subsystem/net/devices/nic0\nG:systemd\nQ:systemd\nV:1\n" > "/run/udev/data/$n"; : > "/run/udev/tags/systemd/$n"
exec env container=snag /lib/systemd/systemd --unit=multi-user.target --log-target=console --show-status=0
' sh "$1"`

// booted starts such a systemd and returns what sees its namespaces.
func booted(t *testing.T, root string) (see func(script string) string) {
	t.Helper()
	pid := strconv.Itoa(systemdtest.Boot(t, []string{"-n"}, boot, root))
	return func(script string) string {
		out, _ := exec.Command("nsenter", "-t", pid, "-m", "-n", "-p", "-C", "sh", "-c", script).CombinedOutput()
		return string(out)
	}
}

// TestABootMakesTheSettings writes a plan's files and boots a real systemd with them:
// it sets the sysctls, and starts our service and the interface's.
func TestABootMakesTheSettings(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	queue := 1
	p := &plan.Plan{Version: plan.Version, For: plan.Cause{Suspect: "listen-overflow"}}
	for _, c := range []plan.Change{
		{Target: plan.Target{Kind: "sysctl", Name: "net.core.somaxconn"}, Now: "4096", Then: "16384"},
		{Target: plan.Target{Kind: "route", Name: "quickack", Route: "10.10.0.0/16"}, Now: "0", Then: "1"},
		{Target: plan.Target{Kind: "txqueuelen", Device: "nic0"}, Now: "1000", Then: "5000"},
		{Target: plan.Target{Kind: "rps", Device: "nic0", Queue: &queue}, Now: "0", Then: "3"},
		{Target: plan.Target{Kind: "qdisc", Device: "nic0", Parent: "root"}, Now: "noqueue", Then: "pfifo limit 2000"},
	} {
		c.ID, c.Why = strconv.Itoa(len(p.Changes)+1), "a test"
		p.Changes = append(p.Changes, c)
	}
	facts := export.Facts{Routes: map[string]export.Route{p.Changes[1].Target.String(): {Gateway: "10.9.0.2", Device: "nic0", Metric: 7, Metrics: map[string]string{"mtu": "1450"}}}}
	r, err := export.As("unit", p, "", knob.ForPlan(), facts)
	if err != nil || len(r.Left) > 0 {
		t.Fatalf("%v %+v", err, r.Left)
	}
	all, err := FilesOf(r)
	if err != nil {
		t.Fatal(err)
	}
	d := Disk{Root: t.TempDir()}
	for _, f := range all {
		if err := d.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"passwd", "group", "ld.so.cache"} {
		b, err := os.ReadFile("/etc/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.Root, "etc", name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	see := booted(t, d.Root)
	look := `cat /proc/sys/net/core/somaxconn /sys/class/net/nic0/queues/rx-1/rps_cpus /sys/class/net/nic0/tx_queue_len; ip route show 10.10.0.0/16; tc qdisc show dev nic0
systemctl show -p ActiveState,Result snag-listen-overflow.service snag-listen-overflow@nic0.service`
	want := []string{"16384\n3\n5000\n", "quickack 1", "mtu 1450", "pfifo", "limit 2000p", "ActiveState=active"}
	got := ""
	for range 50 {
		got = see(look)
		missing := ""
		for _, w := range want {
			if !strings.Contains(got, w) {
				missing = w
			}
		}
		if missing == "" && strings.Count(got, "ActiveState=active") == 2 {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Errorf("after the boot:\n%s\n%s", got, see("systemctl --no-pager status snag-listen-overflow.service snag-listen-overflow@nic0.service sys-subsystem-net-devices-nic0.device systemd-sysctl.service"))
}
