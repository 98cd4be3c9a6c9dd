package recording

import (
	"strconv"
	"strings"
	"unicode"
)

// The rows of the network that packets go through: queueing, interfaces and their
// hardware, namespaces, routes, neighbours, filters.

// Qdisc is how one queueing discipline is set. Its counters are samples.
type Qdisc struct {
	T       Time              `json:"t"`
	Netns   uint64            `json:"netns"`
	Device  string            `json:"device"`
	Kind    string            `json:"kind"`
	Handle  string            `json:"handle"`
	Parent  string            `json:"parent"`
	Options map[string]string `json:"options,omitempty"` // rate, burst, limit …, as tc takes them, base units: "8000000bit" a second, "10240b", "1000p", "50ms"; htb's classes as "class 1:10"
}

// Option is one of its options as a number, and the unit that stands behind it: bit (a second),
// b (bytes), p (packets), or a time's. False where it is not set or is no number; nil has none.
func (q *Qdisc) Option(name string) (n float64, unit string, ok bool) {
	if q == nil {
		return 0, "", false
	}
	text := q.Options[name]
	number := strings.TrimRightFunc(text, unicode.IsLetter)
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n < 0 {
		return 0, "", false
	}
	return n, text[len(number):], true
}

// Link is an interface of a namespace.
type Link struct {
	T       Time   `json:"t"`
	Netns   uint64 `json:"netns"`
	Index   int    `json:"index"`
	Name    string `json:"name"`
	Type    string `json:"type,omitempty"` // veth tun …
	MTU     int    `json:"mtu"`
	Up      bool   `json:"up"`
	Carrier *bool  `json:"carrier,omitempty"`
	Peer    int    `json:"peer,omitempty"` // veth: the other end's index
}

// NIC is how an interface and its driver are set, as ethtool shows it (kernel
// Documentation/networking/ethtool-netlink.rst; the driver from the ioctl
// ETHTOOL_GDRVINFO). Written when first seen and when it changed. What is nil or
// "" the driver does not have, or it was not measured; it is never 0.
type NIC struct {
	T        Time      `json:"t"`
	Netns    uint64    `json:"netns"`
	Device   string    `json:"device"`
	Driver   string    `json:"driver,omitempty"`
	Version  string    `json:"version,omitempty"`
	Firmware string    `json:"firmware,omitempty"`
	Bus      string    `json:"bus,omitempty"`   // "0000:03:00.0", "virtio2"; "" for what has no hardware
	Speed    *int      `json:"speed,omitempty"` // Mbit/s
	Duplex   string    `json:"duplex,omitempty"`
	Rings    *Rings    `json:"rings,omitempty"`    // ethtool -g
	Channels *Channels `json:"channels,omitempty"` // ethtool -l
	Coalesce *Coalesce `json:"coalesce,omitempty"` // ethtool -c
	// Features that the catalogue uses, by the kernel's name (ethtool -k), and
	// whether each is on: rx-gro rx-lro rx-ntuple-filter rx-hashing …
	Features map[string]bool `json:"features,omitempty"`
}

// Rings are the lengths of the descriptor rings, in descriptors.
type Rings struct {
	Rx    *int `json:"rx,omitempty"`
	RxMax *int `json:"rx_max,omitempty"`
	Tx    *int `json:"tx,omitempty"`
	TxMax *int `json:"tx_max,omitempty"`
}

// Channels are the numbers of queue pairs (combined) and of queues of one
// direction.
type Channels struct {
	Rx          *int `json:"rx,omitempty"`
	RxMax       *int `json:"rx_max,omitempty"`
	Tx          *int `json:"tx,omitempty"`
	TxMax       *int `json:"tx_max,omitempty"`
	Combined    *int `json:"combined,omitempty"`
	CombinedMax *int `json:"combined_max,omitempty"`
}

// Coalesce is how long the interface waits before it interrupts: microseconds
// and frames, as ethtool takes them.
type Coalesce struct {
	RxUsecs    *int  `json:"rx_usecs,omitempty"`
	RxFrames   *int  `json:"rx_frames,omitempty"`
	TxUsecs    *int  `json:"tx_usecs,omitempty"`
	TxFrames   *int  `json:"tx_frames,omitempty"`
	AdaptiveRx *bool `json:"adaptive_rx,omitempty"`
	AdaptiveTx *bool `json:"adaptive_tx,omitempty"`
}

// Queue is one queue of an interface and the CPUs that software gave it
// (/sys/class/net/DEVICE/queues). Sets of CPUs are lists as the kernel writes
// them, "0-3,8"; "" is none, nil was not read. Written when first seen and when
// it changed, of the own namespace only: sysfs shows no other.
type Queue struct {
	T      Time   `json:"t"`
	Netns  uint64 `json:"netns"`
	Device string `json:"device"`
	Dir    string `json:"dir"` // rx or tx
	Index  int    `json:"index"`
	// RPS are the CPUs that what this queue received is spread over; Flows is the
	// length of its table of flows (RFS).
	RPS   *string `json:"rps_cpus,omitempty"`
	Flows *int    `json:"rps_flow_cnt,omitempty"`
	// XPS are the CPUs that send through this queue.
	XPS *string `json:"xps_cpus,omitempty"`
}

// IRQ is one interrupt of a network interface and where it may go
// (/proc/irq/N/smp_affinity_list) and goes (effective_affinity_list). Written
// when first seen and when it changed. Its counts are samples.
type IRQ struct {
	T         Time   `json:"t"`
	Netns     uint64 `json:"netns"`
	Device    string `json:"device"`
	Number    int    `json:"irq"`
	Name      string `json:"name"` // "eth0-TxRx-3", "virtio2-input.0"
	Allowed   string `json:"allowed,omitempty"`
	Effective string `json:"effective,omitempty"` // "" where the kernel does not tell
}

// Netns is a network namespace.
type Netns struct {
	T     Time     `json:"t"`
	ID    uint64   `json:"id"` // inode
	Name  string   `json:"name,omitempty"`
	Own   bool     `json:"own,omitempty"`   // the one snag was started in
	Addrs []string `json:"addrs,omitempty"` // "eth0 10.0.0.1/24", a device and its network each
}

// Route is one route of a namespace, or what the kernel learnt about one address.
// Written when first seen and when it changed; looked at every 15 s and at both
// ends.
type Route struct {
	T     Time   `json:"t"`
	Netns uint64 `json:"netns"`
	Dst   string `json:"dst"`            // prefix, "0.0.0.0/0" or "::/0" for the default route
	Type  string `json:"type,omitempty"` // "" unicast; unreachable blackhole prohibit throw
	Via   string `json:"via,omitempty"`  // gateway
	// Device that it leaves by; of several next hops the first, and all of them in
	// Hops as ip route prints them.
	Device string   `json:"device,omitempty"`
	Hops   []string `json:"hops,omitempty"`
	From   string   `json:"from,omitempty"`   // preferred source address
	Metric int      `json:"metric,omitempty"` // the lower is taken
	In     int      `json:"table"`            // routing table: 254 main, 253 default; local ones are not written
	MTU    int      `json:"mtu,omitempty"`    // bytes, where it is set or learnt
	// Exception: the kernel learnt it from an ICMP message (next-hop exceptions,
	// ip route show cache): Expires seconds from T.
	Exception bool    `json:"exception,omitempty"`
	Expires   float64 `json:"expires_seconds,omitempty"`
}

// Neighbour is one entry of the ARP or neighbour discovery table that the kernel
// could not resolve, or that is a gateway of a route. Written when its state
// changed.
type Neighbour struct {
	T      Time   `json:"t"`
	Netns  uint64 `json:"netns"`
	Addr   string `json:"addr"`
	Device string `json:"device"`
	State  string `json:"state"` // INCOMPLETE REACHABLE STALE DELAY PROBE FAILED NOARP PERMANENT, as ip neigh names them
	Lladdr string `json:"lladdr,omitempty"`
	Probes int    `json:"probes,omitempty"` // sent without an answer
}

// Rule is one nftables rule that can drop (verdict drop, reject or queue, or a
// chain's policy drop, without a handle). Packets and Bytes are running totals of
// its counter since it was loaded; nil: it has none. Written when first seen and
// every 5 s where the counter moved.
type Rule struct {
	T       Time    `json:"t"`
	Netns   uint64  `json:"netns"`
	Family  string  `json:"family"` // ip ip6 inet arp bridge netdev
	Of      string  `json:"table"`
	Chain   string  `json:"chain"`
	Hook    string  `json:"hook,omitempty"` // of a base chain: prerouting input forward output postrouting ingress egress
	Handle  uint64  `json:"handle,omitempty"`
	Verdict string  `json:"verdict"`        // drop reject queue policy
	Text    string  `json:"text,omitempty"` // its expressions, shortened: "udp dport 5006 numgen counter drop"
	Packets *uint64 `json:"packets,omitempty"`
	Bytes   *uint64 `json:"bytes,omitempty"`
}

// Queries counts what one process asked one name server in one second, over UDP on
// port 53 (probes/sockets/queries.h and unconnected.h say which sockets are seen).
type Queries struct {
	T        Time   `json:"t"`
	Netns    uint64 `json:"netns"`
	PID      int    `json:"pid"`
	Comm     string `json:"comm,omitempty"`
	Remote   string `json:"remote"`   // the server, address:port
	Asked    uint64 `json:"asked"`    // queries sent
	Answered uint64 `json:"answered"` // answers read
	// Sum and Max of the times until those answers were read, s.
	Sum float64 `json:"sum"`
	Max float64 `json:"max"`
	// GaveUp counts how often a thread that had no answer from this server asked
	// again, it or another one, and the times until then, s: the resolver's timeout. Of
	// sockets that are not connected, how often the same was asked again or had no answer
	// for 5 s.
	GaveUp    uint64  `json:"gave_up,omitempty"`
	GaveUpSum float64 `json:"gave_up_sum,omitempty"`
	GaveUpMin float64 `json:"gave_up_min,omitempty"`
	GaveUpMax float64 `json:"gave_up_max,omitempty"`
	Failed    uint64  `json:"failed,omitempty"`    // of the answered: errors
	FailedAs  string  `json:"failed_as,omitempty"` // the last of them: "DNS SERVFAIL", "DNS REFUSED"
	// Of sockets that are not connected: queries of which it is not known whether they were
	// answered, as their socket was closed (another server was quicker); those that had no
	// answer yet at the end of the second, and how old the oldest was, s.
	Unknown  uint64  `json:"unknown,omitempty"`
	Open     uint64  `json:"open,omitempty"`
	Oldest   float64 `json:"oldest,omitempty"`
	Measured float64 `json:"measured,omitempty"` // as in Hold
}

// Table name.
func (Queries) Table() string { return "queries" }
