package procfile

import "strings"

// What of meminfo and vmstat is recorded: what suspects use and what a reader of
// an incident asks next. All of it would be 170 series more.
var (
	MeminfoFields = set(` MemTotal MemFree MemAvailable Buffers Cached SwapCached SwapTotal SwapFree Dirty Writeback
		AnonPages Mapped Shmem Slab SReclaimable SUnreclaim KernelStack PageTables AnonHugePages Committed_AS CommitLimit
		Mlocked Unevictable HugePages_Total HugePages_Free Active(anon) Inactive(anon) Active(file) Inactive(file)`)
	NodeFields = set(` MemTotal MemFree MemUsed FilePages AnonPages Shmem Slab SUnreclaim Mlocked Unevictable HugePages_Total HugePages_Free
		Active(anon) Inactive(anon) Active(file) Inactive(file)`)
	VmstatFields = set(` pswpin pswpout pgpgin pgpgout pgfault pgmajfault oom_kill swap_ra swap_ra_hit
		compact_stall compact_fail compact_success compact_migrate_scanned compact_free_scanned compact_isolated
		compact_daemon_wake compact_daemon_migrate_scanned pgmigrate_success pgmigrate_fail
		thp_fault_alloc thp_fault_fallback thp_collapse_alloc thp_collapse_alloc_failed thp_split_page thp_file_fallback
		numa_hit numa_miss numa_foreign numa_local numa_other numa_interleave numa_pte_updates numa_hint_faults
		numa_hint_faults_local numa_pages_migrated zone_reclaim_success zone_reclaim_failed
		workingset_refault_anon workingset_refault_file workingset_refault nr_dirty nr_writeback
		pageoutrun drop_pagecache drop_slab nr_free_pages`)
)

// MemorySettings are the facts about the memory.
var MemorySettings = []string{
	"vm.swappiness", "vm.min_free_kbytes", "vm.watermark_scale_factor", "vm.compaction_proactiveness",
	"vm.zone_reclaim_mode", "vm.overcommit_memory", "vm.dirty_ratio", "vm.dirty_background_ratio",
	"kernel.numa_balancing", "kernel.task_delayacct", "transparent_hugepage.enabled", "transparent_hugepage.defrag",
}

// vmstatPrefixes take in what has a name for each zone: allocstall_normal …
var vmstatPrefixes = []string{"allocstall", "pgscan_", "pgsteal_"}

func set(names string) map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Fields(names) {
		out[n] = true
	}
	return out
}

// plain writes a name as Prometheus takes it: Active(anon) is Active_anon.
func plain(name string) string {
	return strings.TrimSuffix(strings.NewReplacer("(", "_", ")", "").Replace(name), "_")
}

// MeminfoName is the series of a field of /proc/meminfo; "" where it is not recorded.
func MeminfoName(field string) string {
	switch {
	case !MeminfoFields[field]:
		return ""
	case strings.HasPrefix(field, "HugePages_"): // a count
		return "node_memory_" + plain(field)
	}
	return "node_memory_" + plain(field) + "_bytes"
}

// NodeMeminfoName is the series of a field of a node's meminfo.
func NodeMeminfoName(field string) string {
	if !NodeFields[field] {
		return ""
	}
	return "node_memory_numa_" + plain(field)
}

// NumastatName is the series of a field of a node's numastat.
func NumastatName(field string) string {
	switch field {
	case "numa_hit", "numa_miss", "numa_foreign", "interleave_hit", "local_node", "other_node":
		return "node_memory_numa_" + field + "_total"
	}
	return ""
}

// VmstatName is the series of a field of /proc/vmstat.
func VmstatName(field string) string {
	if VmstatFields[field] {
		return "node_vmstat_" + field
	}
	for _, p := range vmstatPrefixes {
		if strings.HasPrefix(field, p) {
			return "node_vmstat_" + field
		}
	}
	return ""
}
