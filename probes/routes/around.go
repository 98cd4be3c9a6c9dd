package routes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"snag/internal/nldump"
	"snag/probes/probe"
	"snag/recording"
)

// mostStates bounds the series of one namespace: a device with two states each.
const mostStates = 128

// lookAround writes the neighbours that do not answer, the gateways, and how many
// neighbours are in which state.
func (sp *space) lookAround() error {
	t := sp.env.Now()
	conn := nldump.Dial(unix.NETLINK_ROUTE, sp.reply)
	defer conn.Close()
	for k := range sp.states {
		sp.states[k] = 0
	}
	read, rows := 0, 0
	err := conn.Dump(unix.RTM_GETNEIGH, make([]byte, 12), func(data []byte) error {
		if read++; read > mostNeighbours {
			return nldump.ErrEnough
		}
		n, err := decodeNeighbour(data)
		if err != nil || !n.Addr.IsValid() {
			return err
		}
		device := sp.device(n.Index)
		if k := [2]string{device, n.State}; sp.states[k] > 0 || len(sp.states) < mostStates {
			sp.states[k]++
		}
		addr := n.Addr.String()
		key := addr + " " + device
		was, known := sp.neighbours[key]
		dead := n.State == "FAILED" || n.State == "INCOMPLETE"
		if !dead && !known && !sp.gateways[addr] || known && was == n.State {
			return nil
		}
		if rows++; rows > mostRows {
			return nil
		}
		if len(sp.neighbours) > 4*mostRows { // a scan fails thousands: begin anew
			clear(sp.neighbours)
		}
		sp.neighbours[key] = n.State
		sp.env.Sink.Append(recording.Neighbour{T: t, Netns: sp.ID, Addr: addr, Device: device, State: n.State, Lladdr: n.Lladdr, Probes: n.Probes})
		return nil
	})
	for k, n := range sp.states {
		sp.env.Sink.Sample(t, "node_arp_states", sp.with("device", k[0], "state", k[1]), float64(n))
	}
	if rows > mostRows || errors.Is(err, nldump.ErrEnough) {
		sp.meter.note("routes.neighbours", fmt.Sprintf("of %s at most %d neighbours are read and %d kept each second", sp.called(), mostNeighbours, mostRows), "ip neigh show nud failed")
	}
	if errors.Is(err, nldump.ErrInterrupted) || errors.Is(err, nldump.ErrEnough) {
		return nil
	}
	return err
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

// nftablesThere tells whether nf_tables is part of the kernel or loaded. Where it
// is neither there are no rules, and asking would have the kernel load it
// (net/netfilter/nfnetlink.c, nfnetlink_rcv_msg).
func nftablesThere(proc, sys, modules string) bool {
	if _, err := os.Stat(filepath.Join(proc, "modules")); errors.Is(err, fs.ErrNotExist) {
		return true // a kernel that can load nothing
	}
	if _, err := os.Stat(filepath.Join(sys, "module/nf_tables")); err == nil {
		return true
	}
	builtin, _ := os.ReadFile(filepath.Join(modules, "modules.builtin")) // none: nothing is known to be built in
	return containsModule(builtin, "nf_tables")
}

// firewall writes the rules that can drop, and again those whose counters moved.
func (sp *space) firewall() error {
	if !sp.shared.rules {
		return nil
	}
	rules, read, err := sp.rulesNow()
	switch {
	case errors.Is(err, unix.EPERM):
		return &probe.Unavailable{Why: "nftables' rules: neither CAP_NET_ADMIN nor root", Cure: "run as root, or give the binary CAP_NET_ADMIN"}
	case errors.Is(err, unix.EPROTONOSUPPORT), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
		return &probe.Unavailable{Why: "this kernel has no nf_tables", Cure: "iptables-legacy-save -c shows the rules of iptables"}
	case err != nil && !errors.Is(err, nldump.ErrInterrupted):
		return err
	}
	t := sp.env.Now()
	if read > mostRules || len(rules) > mostRows {
		sp.meter.note("routes.rules", fmt.Sprintf("of %s at most %d rules are read and %d that drop are kept", sp.called(), mostRules, mostRows), "nft -a list ruleset")
	}
	for _, r := range rules[:min(len(rules), mostRows)] {
		key := fmt.Sprint(r.Family, r.Of, r.Chain, r.Handle)
		now := uint64(0)
		if r.Packets != nil {
			now = *r.Packets
		}
		if was, known := sp.rules[key]; known && was == now {
			continue
		}
		sp.rules[key] = now
		r.T = t
		sp.env.Sink.Append(r)
	}
	if legacy, err := os.ReadFile(filepath.Join(sp.env.Proc, "thread-self/net/ip_tables_names")); err == nil && len(legacy) > 0 {
		sp.meter.note("routes.rules", "the rules of legacy iptables are not read", "iptables-legacy-save -c")
	}
	return nil
}
