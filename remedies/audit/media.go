package audit

import (
	"fmt"
	"math"
	"strconv"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/suspect"
)

// grew is by how much all counters of a name grew; false where none was recorded.
func (h host) grew(name string, labels ...string) (sum float64, ok bool) {
	for _, s := range h.r.Select(name, labels...) {
		if n, counted := s.Increase(); counted {
			sum, ok = sum+n, true
		}
	}
	return sum, ok
}

// receiveDefault: a socket that never asks for a buffer has the size that all begin with.
func receiveDefault(h host) (out []Risk, covered string) {
	begins, ok := h.number("net.core.rmem_default")
	if !ok {
		return nil, ""
	}
	sockets, lost := 0, 0.0
	var worst recording.Socket
	for _, k := range h.lastUDP() {
		if float64(k.last.RcvBuf) != begins {
			continue
		}
		sockets++
		if n := float64(k.last.Drops) - float64(k.first.Drops); n > lost {
			lost, worst = n, k.last
		}
	}
	if lost == 0 {
		return nil, fmt.Sprintf("none of the %d UDP sockets that never asked for a buffer, and have %s, lost a datagram", sockets, units.Bytes(begins))
	}
	want := math.Exp2(math.Ceil(math.Log2(max(2*begins, h.inMemory(h.rate*stall*truesize)))))
	who := worst.Local
	if len(worst.Owners) > 0 {
		who = fmt.Sprintf("%s[%d] on %s", worst.Owners[0].Comm, worst.Owners[0].PID, worst.Local)
	}
	s := sysctl("net.core.rmem_default", whole(want), fmt.Sprintf("%s never asked for a buffer, has %s, and lost %s datagrams: a larger net.core.rmem_max would not help it", who, units.Bytes(begins), units.Count(lost)),
		"every socket that any program opens from then on, but TCP's, may hold that much memory")
	s.Needs = "its restart; or it calls SO_RCVBUF"
	return []Risk{{Setting: s, Source: "net/core/sock.c (sock_init_data_uid); Documentation/admin-guide/sysctl/net.rst (rmem_default)", Shows: "the socket's d in ss -uamn grows: snag find names it udp-receive-buffer-full"}}, ""
}

// udpSocket is a socket of UDP when it was first and last seen.
type udpSocket struct{ first, last recording.Socket }

func (h host) lastUDP() []*udpSocket {
	at := map[string]*udpSocket{}
	var out []*udpSocket
	for _, k := range h.r.Sockets {
		if k.Proto != "udp" || k.RcvBuf == 0 || k.Wire || !h.own(k.Netns) {
			continue
		}
		key := fmt.Sprint(k.Inode, k.Cookie, k.Local)
		if s, ok := at[key]; ok {
			s.last = k
			continue
		}
		at[key] = &udpSocket{k, k}
		out = append(out, at[key])
	}
	return out
}

// inMemory is a buffer's size, no more than one may take of the memory.
func (h host) inMemory(need float64) float64 {
	if h.memory > 0 {
		return min(need, mostOfMemory*h.memory)
	}
	return need
}

// sendBuffer: who sends faster than its buffer empties is refused, or waits.
func sendBuffer(h host) (out []Risk, covered string) {
	refused, ok := h.grew("node_netstat_Udp_SndbufErrors")
	if !ok {
		return nil, ""
	}
	dropped, _ := h.grew("node_qdisc_drops_total")
	switch {
	case refused == 0:
		return nil, "Udp SndbufErrors did not grow: no datagram was refused for want of room"
	case dropped > 0:
		return nil, fmt.Sprintf("the %s refused datagrams (SndbufErrors) were dropped by a queue discipline: the buffer has nothing to do with it", units.Count(refused))
	}
	now, ok := h.number("net.core.wmem_default")
	if !ok {
		return nil, ""
	}
	want := math.Exp2(math.Ceil(math.Log2(max(2*now, h.inMemory(keyFrame*h.rate/25*truesize)))))
	s := sysctl("net.core.wmem_default", whole(want), fmt.Sprintf("%s, and %s datagrams were refused for want of room in a send buffer: a key frame of %s (%s) is five times the mean of 25 frames per second", isNow(now), units.Count(refused), mbit(h.rate), h.said),
		"longer queues in front of the card; memory of every socket that is opened from then on, but TCP's")
	s.Needs = "its restart; or it calls SO_SNDBUF"
	return []Risk{{Setting: s, Source: "net/core/sock.c (sock_alloc_send_pskb); net/ipv4/udp.c (UDP_MIB_SNDBUFERRORS)", Shows: "SndbufErrors in nstat grows while no queue discipline drops: snag find names none, as a sender that waits loses nothing"}}, ""
}

// backlog: what one CPU hands to another, and what comes by veth and tunnels, waits there.
func backlog(h host) ([]Risk, string) {
	now, ok := h.number("net.core.netdev_max_backlog")
	dropped, ok2 := h.grew("node_softnet_dropped_total")
	if !ok || !ok2 {
		return nil, ""
	}
	if dropped == 0 {
		return nil, fmt.Sprintf("no packet found the backlog of %.0f full (softnet_stat, second column)", now)
	}
	want := min(65536, math.Exp2(math.Ceil(math.Log2(4*now))))
	if want <= now {
		return nil, fmt.Sprintf("it is %.0f: longer would only make packets wait, though %s were dropped", now, units.Count(dropped))
	}
	return []Risk{{Setting: sysctl("net.core.netdev_max_backlog", whole(want), fmt.Sprintf("it is %.0f, and %s packets found it full", now, units.Count(dropped)), "packets wait where a CPU is behind all the time"),
		Source: "net/core/dev.c (enqueue_to_backlog)", Shows: "the second column of softnet_stat grows: snag find names it softnet-backlog"}}, ""
}

// mostRound of receive work, µs: programs on that CPU wait for it.
const mostRound = 16_000

// budget: rounds of receive work that end before the queue is empty.
func budget(h host) ([]Risk, string) {
	packets, ok := h.number("net.core.netdev_budget")
	usecs, ok2 := h.number("net.core.netdev_budget_usecs")
	squeezed, ok3 := h.grew("node_softnet_times_squeezed_total")
	if !ok || !ok2 || !ok3 {
		return nil, ""
	}
	dropped, _ := h.grew("node_softnet_dropped_total")
	switch {
	case squeezed == 0:
		return nil, "no round of receive work was cut short (softnet_stat, third column)"
	case dropped == 0:
		return nil, fmt.Sprintf("%s rounds of receive work were cut short and nothing was dropped: the next round took the rest", units.Count(squeezed))
	case 2*usecs > mostRound:
		return nil, fmt.Sprintf("a round takes up to %.0f µs already: longer ones would keep programs from the CPU", usecs)
	}
	var out []Risk
	for name, now := range map[string]float64{"net.core.netdev_budget": packets, "net.core.netdev_budget_usecs": usecs} {
		s := sysctl(name, whole(2*now), fmt.Sprintf("%s rounds were cut short and %s packets dropped", units.Count(squeezed), units.Count(dropped)), "programs on that CPU wait for longer rounds")
		s.Group = "budget"
		out = append(out, Risk{Setting: s, Source: "net/core/dev.c (net_rx_action)", Shows: "the third column of softnet_stat grows beside the second: snag find names it softnet-backlog"})
	}
	if out[0].Setting.Name > out[1].Setting.Name {
		out[0], out[1] = out[1], out[0]
	}
	return out, ""
}

// busySoftirq is the share of a CPU in softirqs from which its packets should be spread.
const busySoftirq = 0.5

// spread: one CPU that does the receive work of all.
func spread(h host) ([]Risk, string) {
	seconds, host := h.r.Length().Seconds(), h.r.Manifest.CPUs
	busiest, cpu := -1.0, ""
	for _, s := range h.r.Select("node_cpu_seconds_total", "mode", "softirq") {
		if n, ok := s.Increase(); ok && seconds > 0 && n/seconds > busiest {
			busiest, cpu = n/seconds, s.Labels["cpu"]
		}
	}
	switch {
	case busiest < 0:
		return nil, ""
	case host < 2:
		return nil, "there is one CPU"
	case busiest < busySoftirq:
		return nil, fmt.Sprintf("the busiest CPU, %s, spent %.0f %% of the time on packets", cpu, 100*busiest)
	}
	return []Risk{{Call: suspect.Call{Do: "more receive queues (ethtool -L), else RPS: a mask of the other CPUs in rps_cpus of each receive queue, with snag tune plan of a recording under load",
		Why: fmt.Sprintf("CPU %s spent %.0f %% of the time on packets, and there are %d", cpu, 100*busiest, host)},
		Source: "Documentation/networking/scaling.rst (RPS)", Shows: "one CPU in softirq all the time (mpstat -P ALL): snag find names it softirq-on-one-cpu"}}, ""
}

// queueDrops: what the queue disciplines of the host's own interfaces dropped.
func queueDrops(h host) (out []Risk, covered string) {
	any := false
	for _, s := range h.r.Select("node_qdisc_drops_total") {
		if id, ok := s.Labels["netns"]; ok && !h.ownLabel(id) {
			continue
		}
		any = true
		if n, ok := s.Increase(); ok && n > 0 && len(out) < 3 {
			out = append(out, Risk{Call: suspect.Call{Do: "a longer limit of " + s.Labels["kind"] + " on " + s.Labels["device"] + ", or a higher rate, with snag tune plan of a recording under load",
				Why: fmt.Sprintf("it dropped %s packets on their way out", units.Count(n))}, Source: "tc(8); net/sched/sch_api.c", Shows: "dropped in tc -s qdisc grows: snag find names it qdisc-drop"})
		}
	}
	if any {
		covered = "no queue discipline dropped a packet"
	}
	return out, covered
}

func (h host) ownLabel(id string) bool {
	n, err := strconv.ParseUint(id, 10, 64)
	return err == nil && h.own(n)
}
