package host

import (
	"testing"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect/suspecttest"
)

// What is kept free is bounded by the smallest node: a twentieth of it.
func TestFragmentationSettings(t *testing.T) {
	r := suspecttest.HostOf(8)
	r.Facts = []recording.Fact{{Name: "vm.min_free_kbytes", Value: "67584"}, {Name: "transparent_hugepage.defrag", Value: "always defer defer+madvise [madvise] never"}}
	r.Series = []recording.Series{suspecttest.Gauge("node_memory_numa_MemTotal", 64<<30, "node", "0"), suspecttest.Gauge("node_memory_numa_MemTotal", 2<<30, "node", "1"), suspecttest.GrowingTo("node_vmstat_thp_fault_fallback", nil, 500)}
	recording.SortSeries(r.Series)
	suspecttest.SettingsAre(t, fragmentationSettings(r, 1000), "sysctl vm.compaction_proactiveness → 50", "sysctl vm.watermark_scale_factor → 100", "sysctl vm.min_free_kbytes → 104858")
	r.Facts[1].Value = "[always] defer defer+madvise madvise never"
	suspecttest.SettingsAre(t, fragmentationSettings(r, 1000), "thp defrag → defer+madvise")
	r.Facts = []recording.Fact{{Name: "vm.min_free_kbytes", Value: "200000"}} // more than a twentieth already
	suspecttest.SettingsAre(t, fragmentationSettings(r, 1000), "sysctl vm.compaction_proactiveness → 50", "sysctl vm.watermark_scale_factor → 100")
}

func TestNUMASettings(t *testing.T) {
	r := suspecttest.HostOf(8)
	rss := uint64(20 << 30)
	r.Processes = []recording.Process{{T: 1, PID: 80, Comm: "cache", Unit: "cache.service", RSS: &rss}, {T: 1, PID: 81, Comm: "small"}}
	r.Facts = []recording.Fact{{Name: "vm.zone_reclaim_mode", Value: "1"}}
	full, spare := node{name: "0", total: 32 << 30}, node{name: "1", total: 32 << 30, free: 20 << 30}
	set, calls := numaSettings(scene.Build(r), r, full, spare)
	suspecttest.SettingsAre(t, set, "sysctl vm.zone_reclaim_mode → 0", "unit NUMAPolicy cache.service → interleave")
	if len(calls) != 0 || set[1].Needs == "" {
		t.Errorf("%+v %+v", calls, set[1])
	}
	r.Processes[0].Unit = ""
	if _, calls := numaSettings(scene.Build(r), r, full, spare); len(calls) != 1 || calls[0].Who.PID != 80 {
		t.Errorf("without a unit: %+v", calls)
	}
}

func TestSwapSettings(t *testing.T) {
	r := suspecttest.HostOf(8)
	swapped := uint64(200 << 20)
	r.Processes = []recording.Process{{T: 1, PID: 80, Comm: "db", Unit: "db.service", Cgroup: "/system.slice/db.service", Swap: &swapped}}
	r.Series = []recording.Series{suspecttest.Gauge("snag_cgroup_memory_limit_bytes", 800<<20, "cgroup", "/system.slice/db.service"), suspecttest.Gauge("snag_cgroup_memory_bytes", 799<<20, "cgroup", "/system.slice/db.service"),
		suspecttest.Gauge("node_memory_Cached_bytes", 4<<30), suspecttest.Gauge("node_memory_Shmem_bytes", 0), suspecttest.Gauge("node_memory_MemTotal_bytes", 8<<30)}
	recording.SortSeries(r.Series)
	p := scene.Build(r).Processes[0]
	suspecttest.SettingsAre(t, swapSettings(r, p), "unit MemoryMax db.service → 1310720000") // a quarter above 1,000 MiB
	r.Series = r.Series[:3:3]
	suspecttest.SettingsAre(t, swapSettings(r, p), "sysctl vm.swappiness → 10")
	r.Series = []recording.Series{suspecttest.Gauge("node_memory_Cached_bytes", 1<<30), suspecttest.Gauge("node_memory_MemTotal_bytes", 8<<30), suspecttest.Gauge("node_memory_Shmem_bytes", 0)}
	suspecttest.SettingsAre(t, swapSettings(r, p))
}
