package audit

import (
	"fmt"
	"math"

	"snag/internal/units"
	"snag/suspects/suspect"
)

// rules of all roles, in the order in which they are told.
var rules = []rule{
	{[]Role{UDPMedia}, receiveMax, "receive buffers (net.core.rmem_max)", "net.core.rmem_max was not read"},
	{[]Role{UDPMedia}, receiveDefault, "receive buffers that no program asked for (net.core.rmem_default)", "net.core.rmem_default was not read"},
	{roles: []Role{UDPMedia}, look: clamped},
	{[]Role{UDPMedia}, sendBuffer, "send buffers (net.core.wmem_default, wmem_max)", "Udp SndbufErrors was not counted twice"},
	{[]Role{UDPMedia}, udpMemory, "the memory of all UDP sockets (net.ipv4.udp_mem)", "net.ipv4.udp_mem or what of it is used was not read"},
	{[]Role{UDPMedia}, backlog, "the backlog of received packets (net.core.netdev_max_backlog)", "softnet_stat was not read twice"},
	{[]Role{UDPMedia}, budget, "rounds of receive work (net.core.netdev_budget, netdev_budget_usecs)", "softnet_stat was not read twice"},
	{roles: []Role{UDPMedia}, look: flowLimit, topic: "the flow limit of fq", unseen: "no interface has fq"},
	{[]Role{UDPMedia}, queueDrops, "queue disciplines", "no interface of the host has one that counts"},
	{roles: []Role{TCPStream, Cache, RPC}, look: tcpBuffers},
	{roles: []Role{TCPStream}, look: afterIdle},
	{roles: []Role{TCPStream}, look: mtuProbing},
	{roles: []Role{TCPStream, Cache, RPC}, look: acceptQueues},
	{roles: []Role{TCPStream, Cache, RPC}, look: descriptors},
	{roles: []Role{Cache, RPC}, look: outgoingPorts},
	{roles: Roles, look: conntrack},
	{roles: []Role{UDPMedia}, look: reversePath},
	{Roles, rings, "receive rings", "no card reports its rings and its speed (ethtool -g)"},
	{Roles, channels, "receive queues (RSS)", "no card reports its queues and its speed (ethtool -l)"},
	{[]Role{UDPMedia}, spread, "receive work on other CPUs (RPS)", "the CPUs' time was not read twice"},
	{[]Role{UDPMedia, TCPStream}, sendQueues, "send queues (XPS)", "no card has several send queues and reports its speed"},
	{[]Role{UDPMedia}, coalescing, "interrupt coalescing", "no card reports it (ethtool -c)"},
	{[]Role{UDPMedia}, offloads, "receive offload (GRO)", "no card reports it (ethtool -k)"},
	{[]Role{UDPMedia, Cache, RPC}, hugePages, "huge pages (transparent_hugepage/defrag)", "it was not read"},
	{[]Role{UDPMedia}, freeReserve, "memory that is kept free (vm.min_free_kbytes)", "it, the memory, or allocstall was not read"},
	{[]Role{UDPMedia}, limits, "descriptors", "no process with a UDP socket shows them"},
	{roles: []Role{Cache}, look: swapping},
	{roles: []Role{Cache}, look: zoneReclaim},
	{roles: []Role{RPC}, look: nodelay},
}

// mostOfMemory that one buffer may take.
const mostOfMemory = 0.01

// receiveMax: a socket of UDP must hold what comes while its reader pauses.
func receiveMax(h host) ([]Risk, string) {
	now, ok := h.number("net.core.rmem_max")
	if !ok {
		return nil, ""
	}
	need := h.rate * stall * truesize
	if h.memory > 0 {
		need = min(need, mostOfMemory*h.memory)
	}
	if 2*now >= need {
		return nil, fmt.Sprintf("net.core.rmem_max: %s, twice that in the kernel, hold %s for %.0f ms", units.Bytes(now), mbit(h.rate), 1000*now/h.rate)
	}
	want := math.Exp2(math.Ceil(math.Log2(need / 2)))
	s := sysctl("net.core.rmem_max", whole(want), fmt.Sprintf("%s: with the kernel's doubling %.0f ms of %s (%s), and a healthy reader pauses for 100 to 350 ms on a busy machine; a program that asks for more is cut in silence",
		isNow(now), 1000*2*now/truesize/h.rate, mbit(h.rate), h.said), "sockets that ask for it may hold that much memory")
	s.Needs = "a program that asks for it: SO_RCVBUF, and its restart"
	return []Risk{{Setting: s, Source: "Documentation/admin-guide/sysctl/net.rst (rmem_max); net/core/sock.c (__sock_set_rcvbuf)",
		Shows: "the socket's d in ss -uamn grows, with UdpRcvbufErrors: snag find names it udp-receive-buffer-full"}}, ""
}

// clamped: a buffer of exactly twice rmem_max was asked for larger.
func clamped(h host) (out []Risk, _ string) {
	most, ok := h.number("net.core.rmem_max")
	begins, ok2 := h.number("net.core.rmem_default")
	if !ok || !ok2 || 2*most == begins {
		return nil, ""
	}
	seen := map[int]bool{}
	for _, k := range h.r.Sockets {
		if k.Proto != "udp" || float64(k.RcvBuf) != 2*most || len(k.Owners) == 0 || seen[k.Owners[0].PID] || len(out) == 3 {
			continue
		}
		seen[k.Owners[0].PID] = true
		out = append(out, Risk{Call: suspect.Call{Do: "setsockopt(fd, SOL_SOCKET, SO_RCVBUF, …) again, once net.core.rmem_max is larger",
			Why: fmt.Sprintf("the buffer of %s[%d] on %s is %s, just what rmem_max allows: it asked for as much or more", k.Owners[0].Comm, k.Owners[0].PID, k.Local, units.Bytes(float64(k.RcvBuf)))},
			Source: "net/core/sock.c (sk_setsockopt, SO_RCVBUF)", Shows: "the drop counter dN in ss -uamn grows"})
	}
	return out, ""
}

// keyFrame is how much larger a key frame is than the mean of 25 frames per second.
const keyFrame = 5.0

// flowLimit: a key frame is handed to fq at once, all of one flow.
func flowLimit(h host) (out []Risk, covered string) {
	burst := math.Ceil(keyFrame * h.rate / 25 / packet)
	want := math.Ceil(1.25*burst/100) * 100
	for _, q := range h.r.Qdiscs {
		now, _, ok := q.Option("flow_limit")
		if !ok || q.Kind != "fq" || !h.own(q.Netns) {
			continue
		}
		if now >= burst {
			covered = fmt.Sprintf("fq flow_limit of %s: %.0f packets hold a key frame of %.0f", q.Device, now, burst)
			continue
		}
		s := suspect.Setting{Kind: "qdisc", Name: "flow_limit", Parent: q.Parent, Value: whole(want), Risk: "a flow's packets may wait that long in the queue",
			Why: fmt.Sprintf("it is %.0f packets, and a key frame of a stream of %s (%s) is about %.0f: five times the mean of 25 frames per second", now, mbit(h.rate), h.said, burst)}
		s.At.Device = q.Device
		out = append(out, Risk{Setting: s, Source: "net/sched/sch_fq.c (fq_enqueue)", Shows: "flows_plimit in tc -s -d qdisc grows: snag find names it fq-flow-limit"})
	}
	return out, covered
}

// tcpBuffers hold twice what is on its way.
func tcpBuffers(h host) (out []Risk, covered string) {
	need := 2 * h.rate * h.rtt
	what := fmt.Sprintf("2 × %s (%s) × %.0f ms (%s) are %s", mbit(h.rate), h.said, 1000*h.rtt, h.rttIs, units.Bytes(need))
	if measured := 2 * h.onWay; measured > need {
		need = measured
		what = fmt.Sprintf("twice what one connection had on its way, its rate × its round trip, are %s", units.Bytes(need))
	}
	if h.memory > 0 {
		need = min(need, mostOfMemory*h.memory)
	}
	for _, name := range []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"} {
		v, ok := h.numbers(name, 3)
		if !ok {
			continue
		}
		if v[2] >= need {
			covered += fmt.Sprintf("%s: grows to %s; ", name, units.Bytes(v[2]))
			continue
		}
		want := math.Exp2(math.Ceil(math.Log2(need)))
		s := sysctl(name, whole(v[0])+" "+whole(v[1])+" "+whole(want), fmt.Sprintf("it grows to %s, and %s", units.Bytes(v[2]), what), "memory of connections with a slow peer")
		s.Needs = "new connections"
		out = append(out, Risk{Setting: s, Source: "Documentation/networking/ip-sysctl.rst (tcp_rmem, tcp_wmem); net/ipv4/tcp_input.c (tcp_rcv_space_adjust)",
			Shows: "rwnd_limited or sndbuf_limited in ss -ti: snag find names it small-receive-window"})
	}
	if covered != "" {
		covered += what
	}
	return out, covered
}
