package routes

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"
)

// conntrackFields are those of /proc/net/stat/nf_conntrack that node_exporter
// exports (collector/conntrack_linux.go), counted on each CPU.
var conntrackFields = []string{
	"found", "invalid", "ignore", "insert", "insert_failed", "drop", "early_drop", "search_restart",
}

// ctaStats are the attributes of IPCTNL_MSG_CT_GET_STATS_CPU by the names of the
// file (include/uapi/linux/netfilter/nfnetlink_conntrack.h, enum ctattr_stats_cpu).
var ctaStats = map[uint16]string{
	2: "found", 4: "invalid", 5: "ignore", 8: "insert", 9: "insert_failed",
	10: "drop", 11: "early_drop", 13: "search_restart",
}

// getStatsCPU is IPCTNL_MSG_CT_GET_STATS_CPU of the subsystem NFNL_SUBSYS_CTNETLINK.
const getStatsCPU = unix.NFNL_SUBSYS_CTNETLINK<<8 | 4

// addStats adds the counts of one CPU, the reply to getStatsCPU, to the sums.
func addStats(sums map[string]float64, data []byte) error {
	if len(data) < 4 {
		return fmt.Errorf("decode connection tracking statistics: %d bytes are not a nfgenmsg", len(data))
	}
	err := nested(data[4:], func(kind uint16, b []byte) {
		if name := ctaStats[kind]; name != "" && len(b) >= 4 {
			sums[name] += float64(be32(b))
		}
	})
	if err != nil {
		return fmt.Errorf("decode connection tracking statistics: %w", err)
	}
	return nil
}

// conntrackByNetlink is what /proc/net/stat/nf_conntrack would say, for kernels
// without that file.
func (sp *space) conntrackByNetlink() (map[string]float64, error) {
	sums := map[string]float64{}
	err := sp.netfilter(getStatsCPU, make([]byte, 4), func(data []byte) error { return addStats(sums, data) })
	return sums, err
}

// conntrack writes how full the namespace's connection tracking table is and what
// was done to connections. Where nothing is tracked there is nothing to write.
func (sp *space) conntrack() error {
	t := sp.env.Now()
	entries, errEntries := strconv.ParseFloat(sp.sysctl("net.netfilter.nf_conntrack_count"), 64)
	if errEntries != nil {
		return nil // nf_conntrack is not loaded: no connection is tracked
	}
	sp.env.Sink.Sample(t, "node_nf_conntrack_entries", sp.labels, entries)
	if most, err := strconv.ParseFloat(sp.sysctl("net.netfilter.nf_conntrack_max"), 64); err == nil {
		sp.env.Sink.Sample(t, "node_nf_conntrack_entries_limit", sp.labels, most)
	}
	if sp.facts["net.netfilter.nf_conntrack_buckets"] == "" {
		if v := sp.sysctl("net.netfilter.nf_conntrack_buckets"); v != "" {
			sp.fact(t, "net.netfilter.nf_conntrack_buckets", v, "/proc/sys/net/netfilter/nf_conntrack_buckets")
		}
	}
	values, err := sp.stat("net/stat/nf_conntrack")
	if err == nil && values == nil && sp.ctnetlink {
		values, err = sp.conntrackByNetlink()
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		sp.meter.note("routes.conntrack", "connection tracking statistics are for root: /proc/net/stat/nf_conntrack", "run as root, or give the binary CAP_DAC_READ_SEARCH")
		return nil
	case err != nil:
		return err
	case values == nil:
		sp.meter.note("routes.conntrack", "this kernel shows no /proc/net/stat/nf_conntrack", "use a kernel built with CONFIG_NF_CONNTRACK_PROCFS=y; conntrack -S")
		return nil
	}
	for _, field := range conntrackFields {
		if v, ok := values[field]; ok {
			sp.env.Sink.Sample(t, "node_nf_conntrack_stat_"+field, sp.labels, v)
		}
	}
	return nil
}
