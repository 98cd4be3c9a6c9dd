// Package etcd draws incidents of an etcd of one member on a disk of its own.
package etcd

import (
	"fmt"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

// Family is etcd.
var Family = drawn.Family{
	Name: "etcd", Kind: drawn.RPC, Origin: drawn.Real, Software: []string{"etcd"},
	Needs: []lab.Tool{lab.IP, lab.Losetup, lab.Mkfs, {Command: "etcd", Package: "etcd-server"}},
	Faults: []drawn.Fault{
		{Name: "cpu-quota", Suspects: []string{"cpu-throttled"}, Subject: `etcd|:2379|store`, Account: "quota"},
		{Name: "slow-disk", Suspects: []string{"disk-stall"}, Subject: `etcd|:2379|loop|disk`, Account: "disk"},
		{Name: "space-quota", Suspects: []string{"error-answers"}, Subject: `etcd|:2379`, Account: "errors", Whole: true},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	l := backend.Load(b, net, 300, 20*time.Millisecond, 1)
	l.Size = min(l.Size, 4096)
	writes := b.Uniform("share of writes", 0.2, 0.9)
	disk := b.Volume("disk", 160)
	group := b.Cgroup("store", 0)
	b.SwitchQuota("cpu-quota", group, b.LogUniform("share of a CPU", 0.01, 0.05))
	slow := b.SlowDisk("disk", 0)
	b.SwitchWrites("slow-disk", slow, int(b.LogUniform("bytes per second of the slow disk", 3e3, 60e3)))
	if b.Fault.Name == "slow-disk" { // a process is in one group alone where there is cgroup v2
		group = slow
	}
	space := 2 << 30
	enough := b.Uniform("seconds until the space is used up", 0.5, 5)
	if b.Built("space-quota") {
		space = 28<<10 + int(enough*l.Rate*writes*float64(l.Size+250))
		b.Amount("the database may have %d KiB", space>>10)
	}
	data := filepath.Join(disk.Mount, "data")
	url := "http://" + net.At(2379)
	b.Run(net.Server, "etcd", []string{"etcd", "--data-dir", data, "--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", "http://127.0.0.1:2380", "--log-level", "error", "--heartbeat-interval", "10", "--election-timeout", "50", "--wal-dir", filepath.Join(disk.Mount, "wal"), "--quota-backend-bytes", fmt.Sprint(space)}, lab.In(group))
	b.Await("etcd to listen", 30*time.Second, b.Listens(net.Server, ":2379"))
	pyclient.Start(b, net.Client, "config-client", "etcd", net.At(2379), l, fmt.Sprintf("writes=%.2f", writes), fmt.Sprintf("size=%d", l.Size))
}
