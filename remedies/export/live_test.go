package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"snag/remedies/plan"
)

// systemd-sysctl itself reads the drop-in, in a network namespace of the test's.
func TestSystemdSetsTheSysctls(t *testing.T) {
	const program = "/lib/systemd/systemd-sysctl"
	if _, err := os.Stat(program); err != nil {
		t.Fatal("make setup installs systemd:", err)
	}
	_, in := host(t)
	in("ip", "link", "set", "nic1", "down")
	in("ip", "link", "set", "nic1", "name", "nic1.100")
	p := &plan.Plan{Version: plan.Version, For: plan.Cause{Suspect: "listen-overflow", Text: "a\nb = c\n-x"}}
	for _, c := range []plan.Change{
		{Target: plan.Target{Kind: "sysctl", Name: "net.core.somaxconn"}, Now: "4096", Then: "16384"},
		{Target: plan.Target{Kind: "sysctl", Name: "net.ipv4.tcp_rmem"}, Now: "4096\t131072\t6291456", Then: "4096\t131072\t16777216"},
		{Target: plan.Target{Kind: "sysctl", Name: "net.ipv4.conf.nic1/100.rp_filter"}, Now: "0", Then: "2"},
	} {
		c.ID, c.Why = strconv.Itoa(len(p.Changes)+1), "100 % of\nthem"
		p.Changes = append(p.Changes, c)
	}
	r, _ := as(t, "sysctl.d", p, Facts{})
	dir := t.TempDir()
	write(t, dir, r)
	if out := in(program, filepath.Join(dir, r.Files[0].Path)); out != "" {
		t.Errorf("systemd-sysctl says %s", out)
	}
	if got := in("cat", "/proc/sys/net/core/somaxconn", "/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/conf/nic1.100/rp_filter"); got != "16384\n4096\t131072\t16777216\n2\n" {
		t.Errorf("it set %q", got)
	}
}

// systemd-networkd itself reads the .network drop-in. It is started in namespaces of
// its own, where it has an interface to manage and no other host's files, for as long
// as it needs to have read them.
func TestNetworkdTakesTheKeys(t *testing.T) {
	const program = "/lib/systemd/systemd-networkd"
	if _, err := os.Stat(program); err != nil {
		t.Fatal("make setup installs systemd:", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	p := whole()
	p.Changes = append(p.Changes, plan.Change{ID: "zz", Target: plan.Target{Kind: "qdisc", Device: "eth2", Parent: "root"}, Now: "default fq",
		Then: "fq_codel limit 10240 flows 1024 quantum 1514 target 5000us interval 100000us memory_limit 33554432 ecn", Why: "a test"})
	f := facts()
	f.Routes["route quickack 10.10.0.0/16"] = Route{Gateway: "10.9.0.2", Device: "eth0", Protocol: "static", Metric: 7, Source: "10.9.0.1",
		Metrics: map[string]string{"mtu": "1400", "initcwnd": "20", "initrwnd": "30", "advmss": "1300"}}
	f.Devices["eth1"], f.Devices["eth2"] = Device{Network: "20-lan.network"}, Device{Network: "30-dmz.network"}
	r, _ := as(t, "networkd", p, f)
	dir := t.TempDir()
	write(t, dir, r)
	network := filepath.Join(dir, "etc/systemd/network")
	for i, name := range []string{"20-wan.network", "20-lan.network", "30-dmz.network"} {
		if err := os.WriteFile(filepath.Join(network, name), []byte("[Match]\nName=eth"+strconv.Itoa(i)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A key that no systemd has, at the end of ours: that it is told of shows that they
	// are read.
	for i, file := range r.Files {
		if strings.Contains(file.Path, ".network.d/") {
			r.Files[i].Text += "[Route]\nNoSuchKey=1\n"
		}
	}
	write(t, dir, r)
	script := `mount -t tmpfs none /run && mkdir -p /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp /run/systemd/network &&
mount --bind "$1" /etc/systemd/network && SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console timeout 2 "$2"`
	out, _ := exec.Command("unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", script, "sh", network, program).CombinedOutput()
	if strings.Count(string(out), "NoSuchKey") != 3 {
		t.Fatalf("networkd did not read the files:\n%s", out)
	}
	for l := range strings.Lines(string(out)) {
		if strings.Contains(l, "50-snag-") && !strings.Contains(l, "NoSuchKey") {
			t.Errorf("networkd says %s", l)
		}
	}
}

func FuzzExports(f *testing.F) {
	for _, target := range []string{"kind: sysctl, name: a.b", "kind: ring, device: e, name: rx", "kind: route, route: default, name: mtu", "kind: rps, device: e, queue: 0",
		"kind: qdisc, device: eth1, name: pacing", "kind: qdisc, device: e", "kind: cpu-quota, path: /x.service", "kind: unit, unit: x.slice, name: A", "kind: nofile, pid: 812"} {
		f.Add([]byte("version: 1\nfor: {}\nchanges: [{id: a, target: {" + target + "}, now: b, then: fq x, why: w}]"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := plan.Parse(b)
		if err != nil {
			return
		}
		for _, format := range Formats() {
			r, err := As(format, p, "", kinds(), facts())
			if err != nil {
				return
			}
			if len(r.Files) == 0 && len(r.Left) == 0 {
				t.Errorf("%s: neither held nor left", format)
			}
			for _, file := range r.Files {
				if !strings.HasPrefix(file.Text, Mark) && !strings.HasPrefix(file.Text, "#!/bin/sh\n"+Mark) {
					t.Errorf("%s begins with %.40q", file.Path, file.Text)
				}
				if strings.Contains(file.Path, "\n") || filepath.Clean(file.Path) != file.Path {
					t.Errorf("a path is %q", file.Path)
				}
			}
		}
	})
}
