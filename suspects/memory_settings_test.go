package suspects

import (
	"testing"

	"snag/recording"
	"snag/scene"
)

func gauge(name string, v float64, labels ...string) recording.Series {
	l := recording.Labels{}
	for i := 0; i+1 < len(labels); i += 2 {
		l[labels[i]] = labels[i+1]
	}
	return recording.Series{Name: name, Labels: l, Points: []recording.Point{{T: 1, V: v}, {T: 30e9, V: v}}}
}

// What is kept free is bounded by the smallest node: a twentieth of it.
func TestFragmentationSettings(t *testing.T) {
	r := hostOf(8)
	r.Facts = []recording.Fact{{Name: "vm.min_free_kbytes", Value: "67584"}, {Name: "transparent_hugepage.defrag", Value: "always defer defer+madvise [madvise] never"}}
	r.Series = []recording.Series{gauge("node_memory_numa_MemTotal", 64<<30, "node", "0"), gauge("node_memory_numa_MemTotal", 2<<30, "node", "1"), growingTo("node_vmstat_thp_fault_fallback", nil, 500)}
	recording.SortSeries(r.Series)
	settingsAre(t, fragmentationSettings(r, 1000), "sysctl vm.compaction_proactiveness → 50", "sysctl vm.watermark_scale_factor → 100", "sysctl vm.min_free_kbytes → 104858")
	r.Facts[1].Value = "[always] defer defer+madvise madvise never"
	settingsAre(t, fragmentationSettings(r, 1000), "thp defrag → defer+madvise")
	r.Facts = []recording.Fact{{Name: "vm.min_free_kbytes", Value: "200000"}} // more than a twentieth already
	settingsAre(t, fragmentationSettings(r, 1000), "sysctl vm.compaction_proactiveness → 50", "sysctl vm.watermark_scale_factor → 100")
}

func TestNUMASettings(t *testing.T) {
	r := hostOf(8)
	rss := uint64(20 << 30)
	r.Processes = []recording.Process{{T: 1, PID: 80, Comm: "cache", Unit: "cache.service", RSS: &rss}, {T: 1, PID: 81, Comm: "small"}}
	r.Facts = []recording.Fact{{Name: "vm.zone_reclaim_mode", Value: "1"}}
	full, spare := node{name: "0", total: 32 << 30}, node{name: "1", total: 32 << 30, free: 20 << 30}
	set, calls := numaSettings(scene.Build(r), r, full, spare)
	settingsAre(t, set, "sysctl vm.zone_reclaim_mode → 0", "unit NUMAPolicy cache.service → interleave")
	if len(calls) != 0 || set[1].Needs == "" {
		t.Errorf("%+v %+v", calls, set[1])
	}
	r.Processes[0].Unit = ""
	if _, calls := numaSettings(scene.Build(r), r, full, spare); len(calls) != 1 || calls[0].Who.PID != 80 {
		t.Errorf("without a unit: %+v", calls)
	}
}

func TestSwapSettings(t *testing.T) {
	r := hostOf(8)
	swapped := uint64(200 << 20)
	r.Processes = []recording.Process{{T: 1, PID: 80, Comm: "db", Unit: "db.service", Cgroup: "/system.slice/db.service", Swap: &swapped}}
	r.Series = []recording.Series{gauge("snag_cgroup_memory_limit_bytes", 800<<20, "cgroup", "/system.slice/db.service"), gauge("snag_cgroup_memory_bytes", 799<<20, "cgroup", "/system.slice/db.service"),
		gauge("node_memory_Cached_bytes", 4<<30), gauge("node_memory_Shmem_bytes", 0), gauge("node_memory_MemTotal_bytes", 8<<30)}
	recording.SortSeries(r.Series)
	p := scene.Build(r).Processes[0]
	settingsAre(t, swapSettings(r, p), "unit MemoryMax db.service → 1310720000") // a quarter above 1,000 MiB
	r.Series = r.Series[:3:3]
	settingsAre(t, swapSettings(r, p), "sysctl vm.swappiness → 10")
	r.Series = []recording.Series{gauge("node_memory_Cached_bytes", 1<<30), gauge("node_memory_MemTotal_bytes", 8<<30), gauge("node_memory_Shmem_bytes", 0)}
	settingsAre(t, swapSettings(r, p))
}

// With cookies on, the backlog of SYNs is not looked at: nothing to set here.
func TestSYNSettings(t *testing.T) {
	r := hostOf(2)
	most := recording.HalfOpen{Local: "10.0.0.1:80", N: 300, Sources: 300}
	for v, want := range map[string][]string{"0": {"sysctl net.ipv4.tcp_syncookies → 1"}, "1": nil} {
		r.Facts = []recording.Fact{{Name: "net.ipv4.tcp_syncookies", Value: v}}
		set, calls := synSettings(r, 1, most, 128)
		settingsAre(t, set, want...)
		if len(calls) != 2 || calls[0].Do != "listen(fd, 512), with net.core.somaxconn as high" {
			t.Errorf("%+v", calls)
		}
	}
}

// TIME-WAIT ports are taken again only where no range would hold a minute of connections.
func TestPortsSettings(t *testing.T) {
	r := hostOf(2)
	s := scene.Build(r)
	p := recording.Ports{InUse: 28232, TimeWait: 28000, Remote: "10.0.0.9:80"}
	set, _ := portsSettings(s, r, 1, p, 28232, failedConnects{opened: 3000})
	settingsAre(t, set, "sysctl net.ipv4.ip_local_port_range → 1024 65535", "sysctl net.ipv4.tcp_tw_reuse → 1")
	set, _ = portsSettings(s, r, 1, p, 28232, failedConnects{opened: 60000}) // 2,000 a second
	settingsAre(t, set, "sysctl net.ipv4.tcp_tw_reuse → 1")
	p.TimeWait = 10 // they are open: nothing gives them back
	set, calls := portsSettings(s, r, 1, p, 64000, failedConnects{opened: 60000})
	settingsAre(t, set)
	if len(calls) != 1 {
		t.Errorf("%+v", calls)
	}
}
