package knob

// Sysctl is one setting below /proc/sys that snag may change, and what an engineer
// wants to know of it. Bounds are the kernel's own, or narrower where it takes values
// that no host survives.
type Sysctl struct {
	Name     string
	About    string
	Unit     string
	Min, Max int64
	Fields   int  // numbers in the value; 0 is one
	Rising   bool // the numbers may not fall
	Words    []string
	Netns    bool   // each network namespace has its own
	Since    string // the first kernel that has it
	Helps    string
	Hurts    string
	Source   string
}

const maxInt32 = 1<<31 - 1

// Sysctls are all that snag sets, by name.
var Sysctls = []Sysctl{
	{Name: "net.core.rmem_max", About: "the largest receive buffer that a program may ask for with SO_RCVBUF", Unit: "bytes", Min: 2304, Max: maxInt32, Since: "2.4",
		Helps: "a UDP socket that must hold what comes while its reader is elsewhere; SO_RCVBUF above it is cut without an error", Hurts: "memory, if many sockets ask for it; nothing until they do", Source: "net/core/sysctl_net_core.c, net/core/sock.c (sock_setsockopt)"},
	{Name: "net.core.rmem_default", About: "the receive buffer of a socket that asks for none (not of TCP)", Unit: "bytes", Min: 2304, Max: maxInt32, Since: "2.4",
		Helps: "UDP programs that never call setsockopt; only sockets made afterwards", Hurts: "memory of every UDP, UNIX and netlink socket", Source: "net/core/sysctl_net_core.c"},
	{Name: "net.core.wmem_max", About: "the largest send buffer that a program may ask for with SO_SNDBUF", Unit: "bytes", Min: 4608, Max: maxInt32, Since: "2.4",
		Helps: "senders of bursts", Hurts: "memory; longer queues in front of the network card", Source: "net/core/sysctl_net_core.c"},
	{Name: "net.core.somaxconn", About: "the most connections that may wait in a listener's accept queue, whatever backlog listen(2) asked for", Unit: "connections", Min: 1, Max: maxInt32, Netns: true, Since: "2.4 (default 4096 since 5.4)",
		Helps: "listeners whose backlog is larger and that meet bursts of connections; the listener must call listen(2) again: restart it", Hurts: "connections may wait longer before they are refused", Source: "net/core/sysctl_net_core.c, net/socket.c (__sys_listen)"},
	{Name: "net.ipv4.tcp_max_syn_backlog", About: "half-open connections that a listener keeps without cookies", Unit: "connections", Min: 1, Max: maxInt32, Netns: true, Since: "2.4",
		Helps: "bursts of connections with a long way between", Hurts: "memory in a SYN flood", Source: "net/ipv4/tcp_input.c (tcp_conn_request)"},
	{Name: "net.ipv4.tcp_abort_on_overflow", About: "answers a connection that the accept queue has no place for with a reset, in place of silence", Unit: "0 or 1", Min: 0, Max: 1, Netns: true, Since: "2.4",
		Helps: "clients that shall fail at once rather than try again after a second", Hurts: "a short burst becomes errors", Source: "net/ipv4/tcp_minisocks.c"},
	{Name: "net.core.netdev_max_backlog", About: "packets that may wait for one CPU's receive work (of RPS, and of devices without NAPI)", Unit: "packets", Min: 1, Max: maxInt32, Since: "2.4",
		Helps: "drops counted in /proc/net/softnet_stat, second column", Hurts: "latency, where the CPU is behind all the time", Source: "net/core/dev.c (enqueue_to_backlog)"},
	{Name: "net.core.netdev_budget", About: "packets that one round of receive work may take", Unit: "packets", Min: 1, Max: maxInt32, Since: "2.6.9",
		Helps: "squeezed rounds (third column of softnet_stat) beside drops; only together with netdev_budget_usecs", Hurts: "programs on that CPU wait longer", Source: "net/core/dev.c (net_rx_action)"},
	{Name: "net.core.netdev_budget_usecs", About: "how long one round of receive work may take", Unit: "µs", Min: 1, Max: 1_000_000, Since: "4.12",
		Helps: "as netdev_budget, whose round it ends as well", Hurts: "programs on that CPU wait longer", Source: "net/core/dev.c (net_rx_action)"},
	{Name: "net.core.rps_sock_flow_entries", About: "the table that remembers on which CPU each flow's reader runs (RFS)", Unit: "flows", Min: 0, Max: 1 << 29, Since: "2.6.35",
		Helps: "RFS, together with rps_flow_cnt of each queue", Hurts: "4 bytes a flow", Source: "net/core/sysctl_net_core.c (rps_sock_flow_sysctl)"},
	{Name: "net.core.default_qdisc", About: "the queue discipline of interfaces made afterwards", Words: []string{"fq", "fq_codel", "pfifo_fast", "cake", "sfq"}, Since: "3.12",
		Helps: "pacing (fq) or fair queues from the boot on; nothing that is there already changes", Hurts: "a module that is not there gives an error", Source: "net/sched/sch_generic.c"},
	{Name: "net.ipv4.tcp_rmem", About: "a TCP socket's receive buffer: least, at first, most", Unit: "bytes", Min: 1, Max: maxInt32, Fields: 3, Rising: true, Netns: true, Since: "2.4",
		Helps: "throughput over a long way: the most must hold rate × RTT twice; new sockets only, and none with SO_RCVBUF", Hurts: "memory of slow readers", Source: "net/ipv4/tcp_input.c (tcp_rcv_space_adjust)"},
	{Name: "net.ipv4.tcp_wmem", About: "a TCP socket's send buffer: least, at first, most", Unit: "bytes", Min: 1, Max: maxInt32, Fields: 3, Rising: true, Netns: true, Since: "2.4",
		Helps: "throughput over a long way", Hurts: "memory, and data that is already late in the queue", Source: "net/ipv4/tcp_input.c (tcp_sndbuf_expand)"},
	{Name: "net.ipv4.tcp_notsent_lowat", About: "how much unsent data a socket may hold before it counts as writable", Unit: "bytes", Min: 1, Max: 1<<32 - 1, Netns: true, Since: "3.12",
		Helps: "live streams: less that is already late waits in the kernel", Hurts: "more wake-ups", Source: "net/ipv4/tcp.c (tcp_stream_memory_free)"},
	{Name: "net.ipv4.tcp_slow_start_after_idle", About: "whether a connection that was idle begins with a small window again", Unit: "0 or 1", Min: 0, Max: 1, Netns: true, Since: "2.6.18",
		Helps: "0: requests after a pause, and streams with pauses", Hurts: "bursts into a path that may have changed", Source: "net/ipv4/tcp_output.c (tcp_cwnd_restart)"},
	{Name: "net.ipv4.tcp_mtu_probing", About: "whether TCP looks for the largest packet that passes when large ones vanish", Unit: "0: never, 1: when a black hole is met, 2: always", Min: 0, Max: 2, Netns: true, Since: "2.6.17",
		Helps: "paths on which the ICMP answers are filtered (PMTU black hole)", Hurts: "smaller packets where loss is taken for a black hole", Source: "net/ipv4/tcp_timer.c (tcp_mtu_probing)"},
	{Name: "net.ipv4.tcp_fin_timeout", About: "how long an orphaned connection stays in FIN-WAIT-2", Unit: "s", Min: 1, Max: 1 << 20, Netns: true, Since: "2.2",
		Helps: "hosts with many half-closed connections", Hurts: "does nothing for TIME-WAIT, which is 60 s", Source: "net/ipv4/tcp.c"},
	{Name: "net.ipv4.tcp_tw_reuse", About: "whether a new outgoing connection may take a port in TIME-WAIT", Unit: "0: no, 1: yes, 2: on loopback", Min: 0, Max: 2, Netns: true, Since: "2.4.6",
		Helps: "clients that run out of ports to one server; needs timestamps", Hurts: "no known harm with timestamps", Source: "net/ipv4/tcp_ipv4.c (tcp_twsk_unique)"},
	{Name: "net.ipv4.ip_local_port_range", About: "the ports that outgoing connections take", Unit: "port", Min: 1, Max: 65535, Fields: 2, Rising: true, Netns: true, Since: "2.2",
		Helps: "clients that run out of ports", Hurts: "servers that bind a port in the range: reserve it (ip_local_reserved_ports)", Source: "net/ipv4/inet_connection_sock.c"},
	{Name: "net.ipv4.tcp_keepalive_time", About: "how long a connection with SO_KEEPALIVE is silent before it is asked", Unit: "s", Min: 1, Max: 32767, Netns: true, Since: "2.2",
		Helps: "peers that went away without a word; only sockets that asked for keepalive", Hurts: "a packet for each idle connection", Source: "include/net/tcp.h (MAX_TCP_KEEPIDLE)"},
	{Name: "net.ipv4.tcp_syncookies", About: "whether SYNs beyond the backlog are answered with cookies", Unit: "0: no, 1: when it is full, 2: always", Min: 0, Max: 2, Netns: true, Since: "2.2",
		Helps: "SYN floods", Hurts: "such connections lose options where they have no timestamps", Source: "net/ipv4/tcp_input.c"},
	{Name: "net.netfilter.nf_conntrack_max", About: "connections that are tracked", Unit: "connections", Min: 1, Max: maxInt32, Since: "2.6.27",
		Helps: "\"table full, dropping packet\"", Hurts: "some 320 bytes of memory each; the hash table should grow with it", Source: "net/netfilter/nf_conntrack_core.c"},
	{Name: "net.ipv4.neigh.default.gc_thresh3", About: "the most neighbours (ARP)", Unit: "neighbours", Min: 1, Max: maxInt32, Since: "2.2",
		Helps: "\"neighbour table overflow\"", Hurts: "memory", Source: "net/core/neighbour.c"},
	{Name: "vm.min_free_kbytes", About: "memory that is kept free for those that can't wait", Unit: "KiB", Min: 128, Max: 1 << 26, Since: "2.4",
		Helps: "direct reclaim and compaction in the path of packets", Hurts: "that much less for programs; too much of a small NUMA node ends in the OOM killer", Source: "mm/page_alloc.c (init_per_zone_wmark_min)"},
	{Name: "vm.watermark_scale_factor", About: "how far ahead kswapd frees memory, in 1/10,000 of it", Unit: "1/10,000", Min: 1, Max: 3000, Since: "4.6",
		Helps: "direct reclaim: kswapd begins earlier", Hurts: "that much less for caches", Source: "mm/page_alloc.c"},
	{Name: "vm.compaction_proactiveness", About: "how much memory is compacted in the background", Unit: "0 to 100", Min: 0, Max: 100, Since: "5.9",
		Helps: "huge pages and large packets wait for compaction", Hurts: "CPU time of kcompactd", Source: "mm/compaction.c"},
	{Name: "vm.swappiness", About: "how readily memory of programs is swapped out rather than the cache dropped", Unit: "0 to 200", Min: 0, Max: 200, Since: "2.6 (to 200 since 5.8)",
		Helps: "programs that wait for pages from the swap", Hurts: "less cache of files", Source: "mm/vmscan.c"},
	{Name: "vm.zone_reclaim_mode", About: "whether a NUMA node frees its own memory before it takes another's", Unit: "bits", Min: 0, Max: 7, Since: "2.6.16",
		Helps: "0: reclaim and swap while other nodes have memory free", Hurts: "memory of other nodes is slower", Source: "mm/vmscan.c (node_reclaim)"},
	{Name: "fs.file-max", About: "open files of the whole machine", Unit: "files", Min: 8192, Max: 1<<63 - 1, Since: "2.2",
		Helps: "ENFILE; not EMFILE, which is the process's own limit", Hurts: "memory", Source: "fs/file_table.c"},
}

func sysctlOf(name string) (*Sysctl, bool) {
	for i := range Sysctls {
		if Sysctls[i].Name == name {
			return &Sysctls[i], true
		}
	}
	return nil, false
}
