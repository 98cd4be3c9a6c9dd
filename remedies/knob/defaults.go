package knob

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"snag/internal/netns"
)

// Kernel is what a sysctl's default depends on.
type Kernel struct {
	Major, Minor int
	Memory       uint64 // bytes of the machine
	Page         int    // bytes
}

// fixed are the defaults that the kernel has as a constant, on every machine since
// 5.10 (net/core/dev.c, net/ipv4/tcp_ipv4.c tcp_sk_init, net/ipv4/af_inet.c, mm/).
// Distributions may set others at boot: those are not the kernel's.
var fixed = map[string]string{
	"net.core.somaxconn":             "4096", // since 5.4
	"net.core.netdev_max_backlog":    "1000",
	"net.core.netdev_budget":         "300",
	"net.core.rps_sock_flow_entries": "0",
	"net.core.busy_poll":             "0",
	"net.core.busy_read":             "0",
	"net.core.dev_weight":            "64",
	"net.core.flow_limit_table_len":  "4096",
	"net.core.gro_normal_batch":      "8",

	"net.ipv4.tcp_abort_on_overflow":     "0",
	"net.ipv4.tcp_notsent_lowat":         "4294967295",
	"net.ipv4.tcp_slow_start_after_idle": "1",
	"net.ipv4.tcp_mtu_probing":           "0",
	"net.ipv4.tcp_fin_timeout":           "60",
	"net.ipv4.tcp_tw_reuse":              "2", // since 4.19
	"net.ipv4.ip_local_port_range":       "32768 60999",
	"net.ipv4.tcp_keepalive_time":        "7200",
	"net.ipv4.tcp_keepalive_intvl":       "75",
	"net.ipv4.tcp_keepalive_probes":      "9",
	"net.ipv4.tcp_syncookies":            "1",
	"net.ipv4.tcp_autocorking":           "1",
	"net.ipv4.tcp_ecn":                   "2",
	"net.ipv4.tcp_no_metrics_save":       "0",
	"net.ipv4.tcp_reordering":            "3",
	"net.ipv4.tcp_retries2":              "15",
	"net.ipv4.tcp_syn_retries":           "6",
	"net.ipv4.tcp_synack_retries":        "5",
	"net.ipv4.tcp_timestamps":            "1",
	"net.ipv4.ip_forward":                "0",
	"net.ipv4.ip_no_pmtu_disc":           "0",
	"net.ipv4.ipfrag_high_thresh":        "4194304",

	"net.ipv4.neigh.default.gc_thresh1": "128",
	"net.ipv4.neigh.default.gc_thresh2": "512",
	"net.ipv4.neigh.default.gc_thresh3": "1024",
	"net.ipv6.neigh.default.gc_thresh1": "128",
	"net.ipv6.neigh.default.gc_thresh2": "512",
	"net.ipv6.neigh.default.gc_thresh3": "1024",

	// net/netfilter/nf_conntrack_proto_tcp.c, nf_conntrack_proto_udp.c
	"net.netfilter.nf_conntrack_tcp_be_liberal":          "0",
	"net.netfilter.nf_conntrack_tcp_timeout_established": "432000",
	"net.netfilter.nf_conntrack_tcp_timeout_close_wait":  "60",
	"net.netfilter.nf_conntrack_tcp_timeout_fin_wait":    "120",
	"net.netfilter.nf_conntrack_tcp_timeout_time_wait":   "120",
	"net.netfilter.nf_conntrack_udp_timeout":             "30",
	"net.netfilter.nf_conntrack_udp_timeout_stream":      "120",

	"vm.swappiness":                "60",
	"vm.zone_reclaim_mode":         "0",
	"vm.watermark_scale_factor":    "10",
	"vm.compaction_proactiveness":  "20",
	"vm.dirty_ratio":               "20",
	"vm.dirty_background_ratio":    "10",
	"vm.dirty_expire_centisecs":    "3000",
	"vm.dirty_writeback_centisecs": "500",
	"vm.max_map_count":             "65530",
	"vm.overcommit_memory":         "0",
	"vm.page-cluster":              "3",
	"vm.stat_interval":             "1",
	"vm.vfs_cache_pressure":        "100",

	"fs.aio-max-nr":                       "65536",
	"fs.inotify.max_user_instances":       "128",
	"fs.nr_open":                          "1048576",
	"kernel.sched_cfs_bandwidth_slice_us": "5000",
	"kernel.sched_rt_runtime_us":          "950000",
	"kernel.timer_migration":              "1",
}

// ofInterfaces are those that all and default have a constant of, by the last part of
// the name; an interface takes what default has when it comes.
var ofInterfaces = map[string]string{"rp_filter": "0", "accept_local": "0", "arp_announce": "0", "arp_ignore": "0"}

// fresh are those that a new network namespace gets from the kernel, computed from the
// machine, and not copied from the host's as tcp_rmem is (tcp_sk_init).
var fresh = map[string]bool{
	"net.ipv4.tcp_max_syn_backlog": true, "net.ipv4.tcp_max_tw_buckets": true, "net.ipv4.tcp_limit_output_bytes": true,
	"net.ipv4.udp_rmem_min": true, "net.ipv4.udp_wmem_min": true,
}

// ErrNoDefault is of a sysctl whose default is not known.
var ErrNoDefault = errors.New("the kernel computes its default")

// Default is the value that the kernel gives a sysctl by itself.
func (h Host) Default(name string) (string, error) {
	if v, ok := fixed[name]; ok {
		return v, nil
	}
	for _, of := range []string{"net.ipv4.conf.all.", "net.ipv4.conf.default."} {
		if last, ok := strings.CutPrefix(name, of); ok && ofInterfaces[last] != "" {
			return ofInterfaces[last], nil
		}
	}
	if fresh[name] {
		return h.freshDefault(name)
	}
	k, err := h.kernel()
	if err != nil {
		return "", err
	}
	if v, ok := computed(name, k); ok {
		return v, nil
	}
	return "", ErrNoDefault
}

// computed are those that depend on the release, and on memory only where there is
// little of it (net/ipv4/tcp.c tcp_init: a share of 1/128 of memory, up to a bound).
func computed(name string, k Kernel) (string, bool) {
	since := func(major, minor int) bool { return k.Major > major || k.Major == major && k.Minor >= minor }
	const mib = 1 << 20
	most := func(newer bool, now, before uint64) (string, bool) {
		bound := before
		if newer {
			bound = now
		}
		// Some memory is no buffer's: a machine near the bound may have less.
		return strconv.FormatUint(bound, 10), k.Memory > bound*128*5/4
	}
	switch name {
	case "net.ipv4.tcp_rmem": // 32 MiB since 6.16
		v, ok := most(since(6, 16), 32*mib, 6*mib)
		return fmt.Sprintf("%d 131072 %s", k.Page, v), ok
	case "net.ipv4.tcp_wmem":
		v, ok := most(true, 4*mib, 0)
		return fmt.Sprintf("%d 16384 %s", k.Page, v), ok
	case "net.core.rmem_max", "net.core.wmem_max": // 4 MiB since 6.18
		if since(6, 18) {
			return "4194304", true
		}
		return "212992", k.Page == 4096
	case "net.core.rmem_default", "net.core.wmem_default":
		return "212992", k.Page == 4096
	}
	return "", false
}

func (h Host) kernel() (k Kernel, err error) {
	k.Page = os.Getpagesize()
	release, err := readFile(filepath.Join(h.Proc, "sys/kernel/osrelease"))
	if err != nil {
		return k, err
	}
	if _, err := fmt.Sscanf(release, "%d.%d", &k.Major, &k.Minor); err != nil {
		return k, fmt.Errorf("read the kernel's release %q: %w", release, err)
	}
	text, err := readFile(filepath.Join(h.Proc, "meminfo"))
	if err != nil {
		return k, err
	}
	var kib uint64
	if _, err := fmt.Sscanf(text, "MemTotal: %d kB", &kib); err != nil {
		return k, fmt.Errorf("read the machine's memory: %w", err)
	}
	k.Memory = kib << 10
	return k, nil
}

// freshDefault looks in a network namespace that was made this moment.
func (h Host) freshDefault(name string) (value string, err error) {
	s, err := sysctlOf(name)
	if err != nil {
		return "", err
	}
	err = netns.DoFresh(func() error {
		value, err = readFile(h.sysctlPath(s, name))
		return err
	})
	if err != nil {
		err = fmt.Errorf("look at %s in a new network namespace: %w", name, err)
	}
	return value, err
}

// onlyNew are sysctls that a socket takes when it is made, or when it listens or
// connects: what is open keeps what it has.
var onlyNew = map[string]bool{
	"net.core.rmem_default": true, "net.core.wmem_default": true, "net.core.rmem_max": true, "net.core.wmem_max": true,
	"net.core.somaxconn": true, "net.core.default_qdisc": true, "net.ipv4.ip_local_port_range": true, "net.ipv4.tcp_keepalive_time": true,
	"net.ipv4.udp_rmem_min": true, "net.ipv4.udp_wmem_min": true, "net.ipv4.tcp_congestion_control": true,
}

// OnlyNew reports whether a sysctl holds only for what is made after it was set: sockets,
// listeners, interfaces.
func OnlyNew(name string) bool { return onlyNew[strings.TrimSpace(name)] }
