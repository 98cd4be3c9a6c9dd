package knob

import "golang.org/x/sys/unix"

// flap is what most drivers do when a ring or the channels change.
const flap = "most drivers stop the interface for a moment: the link flaps, and packets are lost; "

var rings = &ethGroup{what: "ring", get: unix.ETHTOOL_MSG_RINGS_GET, set: unix.ETHTOOL_MSG_RINGS_SET, header: unix.ETHTOOL_A_RINGS_HEADER, all: []ethNumber{
	{Doc{"rx", "descriptors of each receive ring: packets that wait for the kernel to fetch them", "packets", "1 to the driver's own maximum (ethtool -g)", "2.4; netlink 5.8",
		"drops that the network card itself counts (rx_missed_errors, rx_no_buffer …) in bursts", flap + "memory (a page or more each); a larger ring no longer fits the cache, and costs throughput where it is not needed", "Documentation/networking/ethtool-netlink.rst (RINGS_SET)"},
		unix.ETHTOOL_A_RINGS_RX, unix.ETHTOOL_A_RINGS_RX_MAX, 1 << 20, false},
	{Doc{"tx", "descriptors of each send ring", "packets", "1 to the driver's own maximum (ethtool -g)", "2.4; netlink 5.8",
		"a queue that stops (netif_tx_stop_queue) although the line is not full", flap + "a longer queue behind the qdisc, where nothing is fair: latency", "Documentation/networking/ethtool-netlink.rst (RINGS_SET)"},
		unix.ETHTOOL_A_RINGS_TX, unix.ETHTOOL_A_RINGS_TX_MAX, 1 << 20, false},
	{Doc{"rx-mini", "descriptors of the ring for small packets", "packets", "0 to the driver's own maximum; few old drivers have it", "2.4; netlink 5.8",
		"as rx, of small packets", flap + "memory", "Documentation/networking/ethtool-netlink.rst (RINGS_SET)"},
		unix.ETHTOOL_A_RINGS_RX_MINI, unix.ETHTOOL_A_RINGS_RX_MINI_MAX, 1 << 20, false},
	{Doc{"rx-jumbo", "descriptors of the ring for jumbo packets", "packets", "0 to the driver's own maximum; few drivers have it (bnx2, tg3)", "2.4; netlink 5.8",
		"as rx, of packets above 1,500 bytes", flap + "memory", "Documentation/networking/ethtool-netlink.rst (RINGS_SET)"},
		unix.ETHTOOL_A_RINGS_RX_JUMBO, unix.ETHTOOL_A_RINGS_RX_JUMBO_MAX, 1 << 20, false},
}}

var channels = &ethGroup{what: "channel", get: unix.ETHTOOL_MSG_CHANNELS_GET, set: unix.ETHTOOL_MSG_CHANNELS_SET, header: unix.ETHTOOL_A_CHANNELS_HEADER, all: []ethNumber{
	{Doc{"combined", "queues that both receive and send, each with an interrupt", "queues", "1 to the driver's own maximum (ethtool -l)", "3.1; netlink 5.8",
		"receive work that one CPU does alone; as many as CPUs is enough", flap + "masks of RPS, XPS and interrupts are made again; qdiscs of mq's queues too", "Documentation/networking/ethtool-netlink.rst (CHANNELS_SET)"},
		unix.ETHTOOL_A_CHANNELS_COMBINED_COUNT, unix.ETHTOOL_A_CHANNELS_COMBINED_MAX, 4096, false},
	{Doc{"rx", "queues that only receive", "queues", "0 to the driver's own maximum (ethtool -l)", "3.1; netlink 5.8",
		"as combined, with drivers that part receiving and sending", flap + "as combined", "Documentation/networking/ethtool-netlink.rst (CHANNELS_SET)"},
		unix.ETHTOOL_A_CHANNELS_RX_COUNT, unix.ETHTOOL_A_CHANNELS_RX_MAX, 4096, false},
	{Doc{"tx", "queues that only send", "queues", "0 to the driver's own maximum (ethtool -l)", "3.1; netlink 5.8",
		"sending CPUs that wait for one queue's lock", flap + "as combined", "Documentation/networking/ethtool-netlink.rst (CHANNELS_SET)"},
		unix.ETHTOOL_A_CHANNELS_TX_COUNT, unix.ETHTOOL_A_CHANNELS_TX_MAX, 4096, false},
	{Doc{"other", "interrupts for all else: the link, virtual functions", "queues", "0 to the driver's own maximum; most drivers refuse a change", "3.1; netlink 5.8",
		"hardly ever anything", flap, "Documentation/networking/ethtool-netlink.rst (CHANNELS_SET)"},
		unix.ETHTOOL_A_CHANNELS_OTHER_COUNT, unix.ETHTOOL_A_CHANNELS_OTHER_MAX, 4096, false},
}}

const coalesceSource = "Documentation/networking/ethtool-netlink.rst (COALESCE_SET)"

var coalesce = &ethGroup{what: "coalescing", get: unix.ETHTOOL_MSG_COALESCE_GET, set: unix.ETHTOOL_MSG_COALESCE_SET, header: unix.ETHTOOL_A_COALESCE_HEADER, all: []ethNumber{
	{Doc{"adaptive-rx", "whether the driver chooses rx-usecs by the traffic", "on or off", "where the driver has it (ethtool -c)", "2.6.30; netlink 5.8",
		"interrupts by the hundred thousand per second under load, without latency when it is quiet", "a delay that was not set", coalesceSource},
		unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, 0, 1, true},
	{Doc{"adaptive-tx", "whether the driver chooses tx-usecs by the traffic", "on or off", "where the driver has it (ethtool -c)", "2.6.30; netlink 5.8",
		"interrupts of completions under load", "a delay that was not set", coalesceSource},
		unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX, 0, 1, true},
	{Doc{"rx-usecs", "how long an interrupt waits after a packet came", "µs", "0 to the driver's own bound; it may round", "2.6; netlink 5.8",
		"too many interrupts: one for several packets", "that much latency for each packet; the ring must hold what comes meanwhile", coalesceSource},
		unix.ETHTOOL_A_COALESCE_RX_USECS, 0, 1 << 20, false},
	{Doc{"rx-frames", "packets after which the interrupt comes at once", "packets", "0 to the driver's own bound; 0: no such rule", "2.6; netlink 5.8",
		"a bound on what waits for rx-usecs", "small values bring back the interrupts", coalesceSource},
		unix.ETHTOOL_A_COALESCE_RX_MAX_FRAMES, 0, 1 << 20, false},
	{Doc{"tx-usecs", "how long the interrupt of a completed sending waits", "µs", "0 to the driver's own bound", "2.6; netlink 5.8",
		"too many interrupts of completions", "sockets get their buffer back later: throughput with small buffers", coalesceSource},
		unix.ETHTOOL_A_COALESCE_TX_USECS, 0, 1 << 20, false},
	{Doc{"tx-frames", "packets sent after which the interrupt comes at once", "packets", "0 to the driver's own bound; 0: no such rule", "2.6; netlink 5.8",
		"too many interrupts of completions", "as tx-usecs", coalesceSource},
		unix.ETHTOOL_A_COALESCE_TX_MAX_FRAMES, 0, 1 << 20, false},
	{Doc{"rx-usecs-irq", "as rx-usecs, while an interrupt is being served", "µs", "0 to the driver's own bound; few drivers have it", "2.6; netlink 5.8", "as rx-usecs", "as rx-usecs", coalesceSource},
		unix.ETHTOOL_A_COALESCE_RX_USECS_IRQ, 0, 1 << 20, false},
	{Doc{"tx-usecs-irq", "as tx-usecs, while an interrupt is being served", "µs", "0 to the driver's own bound; few drivers have it", "2.6; netlink 5.8", "as tx-usecs", "as tx-usecs", coalesceSource},
		unix.ETHTOOL_A_COALESCE_TX_USECS_IRQ, 0, 1 << 20, false},
}}
