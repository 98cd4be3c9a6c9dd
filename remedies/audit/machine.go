package audit

import (
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/suspect"
)

// reversePath: with two networks a strict filter drops what comes the other way.
func reversePath(h host) (out []Risk, covered string) {
	all, ok := h.number("net.ipv4.conf.all.rp_filter")
	devices := h.addressed()
	if !ok || len(devices) < 2 {
		return nil, ""
	}
	for _, device := range devices {
		v, ok := h.number("net.ipv4.conf." + device + ".rp_filter")
		if ok && max(v, all) == 1 {
			out = append(out, Risk{Setting: sysctl("net.ipv4.conf."+device+".rp_filter", "2",
				fmt.Sprintf("it is 1 on a host with addresses on %s: media that come by one and would be answered by another are dropped, multicast too", strings.Join(devices, ", ")),
				"packets with a false sender are taken if any interface leads to that address"),
				Source: "RFC 3704, section 2.4; Documentation/networking/ip-sysctl.rst (rp_filter)", Shows: "TcpExtIPReversePathFilter grows: snag find names it reverse-path-filter"})
		}
	}
	return out, "rp_filter: not strict on any interface"
}

// addressed are the interfaces of the own namespace with addresses, loopback aside.
func (h host) addressed() (out []string) {
	seen := map[string]bool{"lo": true}
	for _, n := range h.r.Netns {
		if !n.Own {
			continue
		}
		for _, a := range n.Addrs {
			device, _, ok := strings.Cut(a, " ")
			if ok && !seen[device] {
				seen[device] = true
				out = append(out, device)
			}
		}
	}
	return out
}

// lastNICs is the last row of each card of the own namespace.
func (h host) lastNICs() []recording.NIC {
	at := map[string]int{}
	var out []recording.NIC
	for _, n := range h.r.NICs {
		if !h.own(n.Netns) {
			continue
		}
		if i, ok := at[n.Device]; ok {
			out[i] = n
			continue
		}
		at[n.Device] = len(out)
		out = append(out, n)
	}
	return out
}

const (
	// softirqPause is how long receive work may wait for a CPU, s: a round of
	// netdev_budget_usecs is 2 jiffies, 8 ms at 250 Hz.
	softirqPause = 0.002
	// fast is from which speed a card needs more than one queue, Mbit/s: one CPU takes
	// about a million packets per second, and 10 Gbit/s are 0.8 million of 1,500 bytes.
	fast = 10_000
)

// rings hold what comes at line rate while the CPU does other work.
func rings(h host) (out []Risk, covered string) {
	for _, n := range h.lastNICs() {
		if n.Rings == nil || n.Rings.Rx == nil || n.Rings.RxMax == nil || n.Speed == nil || *n.Speed <= 0 {
			continue
		}
		rx, most, speed := *n.Rings.Rx, *n.Rings.RxMax, float64(*n.Speed)*1e6
		queues := 1.0
		if n.Channels != nil && n.Channels.Combined != nil && *n.Channels.Combined > 1 {
			queues = float64(*n.Channels.Combined)
		}
		holds := float64(rx) * queues * 1500 * 8 / speed
		if holds >= softirqPause || rx >= most {
			covered = fmt.Sprintf("receive ring of %s: %d descriptors hold %.1f ms at line rate", n.Device, rx, 1000*holds)
			continue
		}
		s := suspect.Setting{Kind: "ring", Name: "rx", At: recording.Subject{Device: n.Device}, Value: fmt.Sprint(most), Risk: "the driver may take the link down for a second or two",
			Why: fmt.Sprintf("%d descriptors and %.0f queues hold %.2f ms of packets at %s, and receive work may wait for %.0f ms", rx, queues, 1000*holds, mbit(speed/8), 1000*softirqPause)}
		out = append(out, Risk{Setting: s, Source: "Documentation/networking/napi.rst; net/core/dev.c (net_rx_action)", Shows: "rx_missed or rx_no_buffer in ethtool -S grows: snag find names it nic-ring-overflow"})
	}
	return out, covered
}

// channels: a fast card with one queue is one CPU's work.
func channels(h host) (out []Risk, covered string) {
	for _, n := range h.lastNICs() {
		if n.Channels == nil || n.Channels.Combined == nil || n.Channels.CombinedMax == nil || n.Speed == nil || *n.Speed < fast {
			continue
		}
		now, want := *n.Channels.Combined, min(*n.Channels.CombinedMax, h.r.Manifest.CPUs)
		if now > 1 || want <= now {
			covered = fmt.Sprintf("queues of %s: %d for %d CPUs", n.Device, now, h.r.Manifest.CPUs)
			continue
		}
		s := suspect.Setting{Kind: "channels", Name: "combined", At: recording.Subject{Device: n.Device}, Value: fmt.Sprint(want), Risk: "the driver may take the link down for a second or two",
			Why: fmt.Sprintf("%d queue for %s and %d CPUs: one CPU receives it all; the card has %d", now, mbit(float64(*n.Speed)*1e6/8), h.r.Manifest.CPUs, *n.Channels.CombinedMax)}
		out = append(out, Risk{Setting: s, Source: "Documentation/networking/scaling.rst (RSS: Suggested Configuration)", Shows: "one CPU in softirq all the time (mpstat -P ALL): snag find names it softirq-on-one-cpu"})
	}
	if covered == "" && h.role == UDPMedia {
		covered = steering(h)
	}
	return out, covered
}

// hugePages: with defrag=always a page fault compacts memory itself.
func hugePages(h host) ([]Risk, string) {
	v, ok := h.r.FactOf("transparent_hugepage.defrag", 0)
	if !ok {
		return nil, ""
	}
	if _, chosen, ok := strings.Cut(v, "["); ok { // the file shows all words
		v, _, _ = strings.Cut(chosen, "]")
	}
	if v != "always" {
		return nil, "transparent_hugepage/defrag: " + v + ", no fault waits for compaction that did not ask for it"
	}
	s := suspect.Setting{Kind: "thp", Name: "defrag", Value: "defer+madvise", Risk: "programs get huge pages later", Why: "it is always: a page fault in the middle of a request may compact memory, for 100 ms and more"}
	return []Risk{{Setting: s, Source: "Documentation/admin-guide/mm/transhuge.rst", Shows: "compact_stall in /proc/vmstat grows: snag find names it memory-fragmentation"}}, ""
}

// swapping: a cache that waits for its own memory is none.
func swapping(h host) ([]Risk, string) {
	now, ok := h.number("vm.swappiness")
	swaps, ok2 := h.r.FactOf("swaps", 0)
	if !ok || !ok2 {
		return nil, ""
	}
	if strings.TrimSpace(swaps) == "" {
		return nil, "vm.swappiness: there is no swap"
	}
	out := 0.0
	for _, s := range h.r.Select("node_vmstat_pswpout") {
		out, _ = s.Increase()
	}
	if now <= 10 || out == 0 {
		return nil, fmt.Sprintf("vm.swappiness: %.0f, and nothing was swapped out", now)
	}
	return []Risk{{Setting: sysctl("vm.swappiness", "10", fmt.Sprintf("it is %.0f, and %s pages were swapped out meanwhile: what a cache holds is its programs' memory, not files'", now, units.Count(out)), "files are read from the disk again more often"),
		Source: "Documentation/admin-guide/sysctl/vm.rst (swappiness)", Shows: "pswpin and major faults of the cache: snag find names it swap"}}, ""
}

func zoneReclaim(h host) ([]Risk, string) {
	now, ok := h.number("vm.zone_reclaim_mode")
	switch {
	case !ok:
		return nil, ""
	case now == 0:
		return nil, "vm.zone_reclaim_mode: off"
	}
	return []Risk{{Setting: sysctl("vm.zone_reclaim_mode", "0", fmt.Sprintf("it is %.0f: a node drops its own cache while another has memory free", now), "memory of another node is slower to reach"),
		Source: "Documentation/admin-guide/sysctl/vm.rst (zone_reclaim_mode)", Shows: "numa_miss with memory free: snag find names it numa-imbalance"}}, ""
}
