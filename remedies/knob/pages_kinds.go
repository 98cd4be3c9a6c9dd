package knob

// kindPages are the pages of all kinds but sysctl.
func kindPages() []Page {
	ethtoolNeeds := "root, CONFIG_ETHTOOL_NETLINK=y (Linux 5.8), and a driver that has it"
	device := "netns: a name under /run/netns, or pid:812 with that process's start, for an interface that is not in the host's own namespace."
	return []Page{
		{Name: "ring", About: "the rings between a network card and the kernel (ethtool -g, -G)", Target: "{kind: ring, name: rx, device: eth0}", Then: "4096", Needs: ethtoolNeeds,
			Notes: []string{"A value above the driver's own maximum is refused; a driver may round.", device}, Settings: rings.docs()},
		{Name: "channels", About: "the queues of a network card (ethtool -l, -L)", Target: "{kind: channels, name: combined, device: eth0}", Then: "8", Needs: ethtoolNeeds,
			Notes: []string{"A value above the driver's own maximum is refused.", device}, Settings: channels.docs()},
		{Name: "coalesce", About: "how interrupts of a network card are gathered (ethtool -c, -C)", Target: "{kind: coalesce, name: rx-usecs, device: eth0}", Then: "50", Needs: ethtoolNeeds,
			Notes: []string{"While adaptive-rx is on, drivers choose rx-usecs themselves.", device}, Settings: coalesce.docs()},
		{Name: "feature", About: "offloads and other features of an interface (ethtool -k, -K), by the kernel's names or by those of ethtool that stand for one", Target: "{kind: feature, name: rx-ntuple-filter, device: eth0}", Then: "on", Needs: ethtoolNeeds,
			Notes: []string{"One that the driver can't change ([fixed]) is refused.", "tcp-segmentation-offload and tx-checksumming stand for several: a plan names each.", device}, Settings: featureDocs},
		{Name: "qdisc", About: "queue disciplines (tc)", Target: "{kind: qdisc, name: flow_limit, device: eth0, queue: 3}", Then: "1000", Needs: "root, and the module of the kind",
			Notes: []string{
				"parent is root (or nothing), or a class as 8001:1; queue is one of mq's queues, whatever mq's handle is (queue 3 is class :4).",
				"With a name it sets one option, and all others stay. Where the kernel made the qdisc (handle 0:), one like it is made, and of mq the root too: the kernel changes none that is its own.",
				"Without a name, then is a whole qdisc in tc's words, as \"fq limit 10000 flow_limit 100\": what waits in the old one is lost. Undo makes the old one again with all its options; names such as \"default noqueue\" are the kernel's own, which comes back when ours is deleted.",
				"A qdisc with filters, with others below it, of another kind than these, or with an option that snag does not know is not replaced: it could not be put back.",
				device,
			}, Settings: qdiscDocs()},
		{Name: "irq", About: "the CPUs that serve an interrupt", Target: "{kind: irq, irq: 45}", Then: "00000004", Needs: "root, and no irqbalance",
			Notes: []string{"While irqbalance runs it is refused: it would be moved back within ten seconds."}, Settings: []Doc{irqDoc}},
		{Name: "thp", About: "transparent huge pages", Target: "{kind: thp, name: defrag}", Then: "defer", Needs: "root, CONFIG_TRANSPARENT_HUGEPAGE=y", Settings: thpDocs()},
		{Name: "unit", About: "properties of systemd's units", Target: "{kind: unit, name: CPUQuota, unit: nginx.service}", Then: "150%", Needs: "root, systemd",
			Notes: []string{
				"CPUQuota, CPUWeight, IOWeight, TasksMax and Memory… are set in the running unit, until the next boot. Undo sets the old value; systemd keeps a file of it below /run/systemd/system.control until then.",
				"Limit…, CPUAffinity and NUMA… are written to /run/systemd/system/UNIT.d/50-snag-NAME.conf, which systemd reads at once and the unit when it is started again: snag restarts nothing.",
			}, Settings: unitDocs()},
		{Name: "txqueuelen", About: "the length of an interface's queue", Target: "{kind: txqueuelen, device: eth0}", Then: "5000", Needs: "root", Notes: []string{device},
			Settings: []Doc{{"txqueuelen", "packets that pfifo_fast holds, and that a pfifo made afterwards will", "packets", "0 to 1000000", "2.2", "drops of pfifo_fast in bursts", "latency: a full queue is waited through by every packet; fq and fq_codel do not look at it", "net/core/dev.c (dev_change_tx_queue_len); net/sched/sch_generic.c"}}},
		{Name: "rps", About: "receive packet steering: the CPUs that work on packets of a queue", Target: "{kind: rps, device: eth0, queue: 0}", Then: "000000fe", Needs: "root, CONFIG_RPS=y", Notes: []string{device},
			Settings: []Doc{{"rps_cpus", "the CPUs that receive packets of the queue", "mask of CPUs: hexadecimal digits in groups of eight, parted by commas", "0 is none", "2.6.35", "one CPU full of softirq work beside idle ones, where the card has fewer queues than CPUs", "an interrupt between CPUs for each burst; nothing to win with as many queues as CPUs", "Documentation/networking/scaling.rst; net/core/net-sysfs.c (store_rps_map)"}}},
		{Name: "xps", About: "transmit packet steering: the CPUs that send on a queue", Target: "{kind: xps, device: eth0, queue: 0}", Then: "1", Needs: "root, CONFIG_XPS=y, an interface with several queues", Notes: []string{device},
			Settings: []Doc{{"xps_cpus", "the CPUs that send on the queue", "mask of CPUs: hexadecimal digits in groups of eight, parted by commas", "0 is none", "2.6.38", "CPUs that wait for one queue's lock; completions on another CPU or node", "a flow that moves may be reordered; drivers with their own masks know better", "Documentation/networking/scaling.rst; net/core/net-sysfs.c (xps_cpus_store)"}}},
		{Name: "rfs", About: "receive flow steering: the flows whose reader's CPU a queue remembers", Target: "{kind: rfs, device: eth0, queue: 0}", Then: "4096", Needs: "root, CONFIG_RPS=y, net.core.rps_sock_flow_entries", Notes: []string{device},
			Settings: []Doc{{"rps_flow_cnt", "flows that the queue remembers the CPU of", "flows", "0 to 536870912; the kernel rounds up to a power of two", "2.6.35", "data that another CPU than its reader's works on; rps_sock_flow_entries divided by the queues", "8 bytes a flow", "Documentation/networking/scaling.rst; net/core/net-sysfs.c (store_rps_dev_flow_table_cnt)"}}},
		{Name: "cpu-quota", About: "the CPU time of a control group", Target: "{kind: cpu-quota, path: /system.slice/nginx.service}", Then: "150000 100000", Needs: "root, CONFIG_CFS_BANDWIDTH=y",
			Settings: []Doc{{"cpu.max", "CPU time that the group may use in each period", "\"QUOTA PERIOD\", µs; max is not a limit", "quota from 1000, period 1000 to 1000000", "3.2 (version 1: cpu.cfs_quota_us), 4.15 (version 2)", "throttled periods (cpu.stat nr_throttled) while CPUs are idle", "others get less; where systemd made the group, kind unit says it to systemd as well", "Documentation/admin-guide/cgroup-v2.rst; kernel/sched/core.c (tg_set_cfs_bandwidth)"}}},
		{Name: "nofile", About: "files that a running process may have open", Target: "{kind: nofile, pid: 812, started: 4711}", Then: "65536:524288", Needs: "CAP_SYS_RESOURCE",
			Settings: []Doc{{"RLIMIT_NOFILE", "files that the process may have open, and its children", "\"SOFT:HARD\", files", "3 to fs.nr_open", "2.6.36 (prlimit)", "EMFILE, now and without a restart; the unit's LimitNOFILE is for the next", "programs that asked for their limit once do not see it", "prlimit(2); kernel/sys.c (do_prlimit)"}}},
		{Name: "route", About: "metrics of one route of the main table", Target: "{kind: route, name: quickack, route: 10.0.0.0/8}", Then: "1", Needs: "root",
			Notes: []string{"0 is the kernel's own. A route with several ways or an encapsulation is left to people.", "New connections take it; those that are open keep most of what they have."}, Settings: routeDocs},
	}
}

const routeSource = "ip-route(8); net/ipv4/metrics.c"

var routeDocs = []Doc{
	{"quickack", "whether TCP acknowledges at once", "0 or 1", "0 or 1", "3.17 (ip-route(8) 4.0)", "Nagle beside a delayed acknowledgement (40 ms), without a change of the program", "more packets that only acknowledge", routeSource},
	{"advmss", "the largest segment that is announced to others", "bytes", "0 to 65495", "2.2", "a way that drops large packets that come in", "smaller packets", routeSource},
	{"mtu", "the largest packet that is sent", "bytes", "0 to 65535", "2.2", "a way that drops large packets that go out, and the ICMP answers", "smaller packets", routeSource},
	{"initcwnd", "packets that a new connection sends before the first acknowledgement", "packets", "0 to 1000 (10 where nothing is said, RFC 6928)", "2.6.39", "short answers over a long way", "bursts into small buffers", routeSource},
	{"initrwnd", "packets that a new connection offers to take", "packets", "0 to 10000", "2.6.34", "senders with a large initcwnd", "memory", routeSource},
	{"rto_min", "after how long without an acknowledgement data is sent again at least", "ms", "0 to 120000 (200 where nothing is said)", "2.6.24", "losses inside one data centre", "needless retransmissions where acknowledgements are delayed by 40 ms", routeSource},
}

var featureDocs = []Doc{
	{"rx-ntuple-filter", "filters that steer flows to queues (ntuple-filters)", "on or off", "where the driver has it", "2.6.34; netlink 5.8", "flows on the CPU that reads them, by own rules or accelerated RFS", "turns the flow director's own sampling (ATR of ixgbe, i40e) off", "Documentation/networking/scaling.rst; ethtool(8)"},
	{"rx-gro", "packets of one flow are joined before they go up (generic-receive-offload)", "on or off", "on or off", "2.6.29; netlink 5.8", "CPU time of receiving", "off: none of its latency (some µs), much more CPU time", "Documentation/networking/segmentation-offloads.rst"},
	{"rx-lro", "the same in the card (large-receive-offload)", "on or off", "where the driver has it", "2.6.24; netlink 5.8", "CPU time of receiving", "wrong for packets that are forwarded", "Documentation/networking/segmentation-offloads.rst"},
	{"rx-udp-gro-forwarding", "UDP packets are joined for forwarding", "on or off", "on or off", "5.12", "CPU time of forwarding QUIC and media", "packets leave in bursts", "net/ipv4/udp_offload.c"},
	{"tx-tcp-segmentation", "the card cuts TCP's data into packets (tcp-segmentation-offload, IPv4)", "on or off", "where the driver has it", "2.5.33; netlink 5.8", "CPU time of sending", "off: where a driver or a virtual switch corrupts or drops them; bursts of 64 KiB", "Documentation/networking/segmentation-offloads.rst"},
	{"tx-generic-segmentation", "the same, late in the kernel (generic-segmentation-offload)", "on or off", "on or off", "2.6.18; netlink 5.8", "CPU time of sending", "off: much more CPU time", "Documentation/networking/segmentation-offloads.rst"},
	{"tx-udp-segmentation", "UDP_SEGMENT in the card", "on or off", "where the driver has it", "4.18; netlink 5.8", "CPU time of sending QUIC and media", "bursts", "Documentation/networking/segmentation-offloads.rst"},
	{"rx-checksum", "the card verifies checksums (rx-checksumming)", "on or off", "where the driver has it", "2.4; netlink 5.8", "CPU time; GRO needs it", "off: more CPU time", "Documentation/networking/checksum-offloads.rst"},
	{"rx-hashing", "the card's hash comes with each packet (receive-hashing)", "on or off", "where the driver has it", "2.6.35; netlink 5.8", "RPS and fq need not compute it", "off: more CPU time", "Documentation/networking/scaling.rst"},
}

func (g *ethGroup) docs() []Doc {
	var all []Doc
	for _, n := range g.all {
		all = append(all, n.Doc)
	}
	return all
}

func thpDocs() []Doc {
	var all []Doc
	for _, f := range thpFiles {
		all = append(all, f.Doc)
	}
	return all
}

func unitDocs() []Doc {
	var all []Doc
	for _, p := range unitProperties {
		all = append(all, p.Doc)
	}
	return all
}

// qdiscDocs are the options of all kinds, as "fq limit".
func qdiscDocs() []Doc {
	var all []Doc
	for _, k := range qdiscKinds {
		for _, o := range k.options {
			if !o.kept {
				d := o.Doc
				d.Name = k.name + " " + d.Name
				all = append(all, d)
			}
		}
	}
	return all
}
