package exporter

import "time"

// The floors are those of the suspects that judge the same counters, which a test holds equal: fleet/ may not import
// suspects/, whose floors have their reasons beside them.
const (
	fewOverflows   = 3     // suspects/net/listen_overflow.go
	fewSyns        = 50    // suspects/net/syn_flood.go
	fewRetransmits = 10    // suspects/measure/floors.go, FewRetransmits
	lossFelt       = 0.005 // suspects/measure/floors.go, LossFelt
	feltByItself   = 100   // suspects/net/udp_receive_buffer_full.go
	nearlyShare    = 0.8   // suspects/net/conntrack_full.go
	busyIdle       = 0.1   // suspects/measure/cpu_time.go, BusyIdle
	stealTold      = 0.1   // suspects/host/steal.go
	hotShare       = 0.8   // suspects/net/softirq_on_one_cpu.go
	roomElsewhere  = 0.3   // suspects/net/softirq_on_one_cpu.go
	crowdedShare   = 0.2   // suspects/host/run_queue_wait.go
	delayShare     = 0.1   // suspects/host/cpu_throttled.go; disk_stall.go has it for the pressure of disks
	waitsForMemory = 0.1   // suspects/host/memory_limit.go
	busyDisk       = 0.8   // suspects/host/disks.go
	slowDisk       = 0.02  // suspects/host/disks.go, s a request
	swapRate       = 20    // suspects/host/swap.go, major faults per second
	nearLimit      = 0.95  // suspects/host/swap.go
	portsLow       = 0.8   // suspects/net/ephemeral_ports.go
)

// The rest no suspect judges.
const (
	// udpShare of the datagrams that came: suspects/net/udp_receive_buffer_full.go compares with the same.
	udpShare = 0.001
	// mostOffset of a clock, s: NodeClockSkewDetected of node_exporter's own alerts (docs/node-mixin).
	mostOffset = 0.05
	// farOff of the store's clock, s: as of a recorder's (fleet/hosts/clocks.go). A scrape takes up to 10 s.
	farOff = 10
	// portRange is net.ipv4.ip_local_port_range by default, 32768 to 60999, which node_exporter does not have.
	portRange = 28232
	// fewOrphans hold 256 MB that can't be swapped (tcp_max_orphans in the kernel's ip-sysctl: up to 64 kB each).
	fewOrphans = 4096
	// pressureShare of the memory in TCP's buffers is where the kernel begins to save by default (net/ipv4/tcp.c,
	// tcp_init_mem), unless tcp_mem is set.
	pressureShare = 1.0 / 16
	// justBooted: what was before is another run of the kernel, and its counters began at zero.
	justBooted = time.Hour
)
