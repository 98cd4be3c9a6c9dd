package knob

var conntrackSysctls = []Sysctl{
	{Name: "net.netfilter.nf_conntrack_max", About: "connections that are tracked", Unit: "connections", Min: 1, Max: maxInt32, Since: "2.6.27",
		Helps: "\"table full, dropping packet\"", Hurts: "about 320 bytes of memory each; the hash table should grow with it", Source: "net/netfilter/nf_conntrack_core.c"},
	{Name: "net.netfilter.nf_conntrack_buckets", About: "size of the hash table of connections", Unit: "entries", Min: 1024, Max: 16777216, Rounds: 512, Since: "2.6.19 (writable since 4.8)",
		Helps: "CPU time in long chains, where nf_conntrack_max was raised: a quarter to all of it", Hurts: "8 bytes an entry; the table is made again", Source: "net/netfilter/nf_conntrack_core.c (nf_conntrack_hash_resize)"},
	{Name: "net.netfilter.nf_conntrack_tcp_timeout_established", About: "how long a silent TCP connection is tracked: 5 days unless set", Unit: "s", Min: 60, Max: 4194304, Netns: true, Since: "2.6.19",
		Helps: "a table full of connections that ended without a word", Hurts: "longer silences than this break through NAT", Source: "net/netfilter/nf_conntrack_proto_tcp.c"},
	{Name: "net.netfilter.nf_conntrack_tcp_timeout_time_wait", About: "how long an ended TCP connection is tracked", Unit: "s", Min: 1, Max: 65536, Netns: true, Since: "2.6.19",
		Helps: "a table full of short connections", Hurts: "late packets count as invalid", Source: "net/netfilter/nf_conntrack_proto_tcp.c"},
	{Name: "net.netfilter.nf_conntrack_tcp_timeout_fin_wait", About: "the same after the first FIN", Unit: "s", Min: 1, Max: 65536, Netns: true, Since: "2.6.19",
		Helps: "a table full of half-closed connections", Hurts: "late packets count as invalid", Source: "net/netfilter/nf_conntrack_proto_tcp.c"},
	{Name: "net.netfilter.nf_conntrack_tcp_timeout_close_wait", About: "the same while the other side has yet to close", Unit: "s", Min: 1, Max: 65536, Netns: true, Since: "2.6.19",
		Helps: "a table full of half-closed connections", Hurts: "late packets count as invalid", Source: "net/netfilter/nf_conntrack_proto_tcp.c"},
	{Name: "net.netfilter.nf_conntrack_udp_timeout", About: "how long one-sided UDP is tracked", Unit: "s", Min: 1, Max: 65536, Netns: true, Since: "2.6.19",
		Helps: "a table full of DNS and of scans", Hurts: "answers that come later are dropped by rules that want a known flow", Source: "net/netfilter/nf_conntrack_proto_udp.c"},
	{Name: "net.netfilter.nf_conntrack_udp_timeout_stream", About: "the same of UDP that went both ways", Unit: "s", Min: 1, Max: 65536, Netns: true, Since: "2.6.19",
		Helps: "a table full of UDP flows", Hurts: "media that pauses longer breaks through NAT", Source: "net/netfilter/nf_conntrack_proto_udp.c"},
	{Name: "net.netfilter.nf_conntrack_tcp_be_liberal", About: "whether packets outside the window pass as well", Unit: "0 or 1", Min: 0, Max: 1, Netns: true, Since: "2.6.19",
		Helps: "1: long paths: their packets count as invalid and are dropped", Hurts: "rules see less", Source: "net/netfilter/nf_conntrack_proto_tcp.c"},
}
