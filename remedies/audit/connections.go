package audit

import (
	"fmt"
	"math"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/suspect"
)

// afterIdle: segments of HLS and chunks come with pauses, and each begins with a small
// window again.
func afterIdle(h host) ([]Risk, string) {
	now, ok := h.number("net.ipv4.tcp_slow_start_after_idle")
	switch {
	case ok && now == 0:
		return nil, "net.ipv4.tcp_slow_start_after_idle: off"
	case !h.far:
		return nil, "net.ipv4.tcp_slow_start_after_idle: no peer farther than 10 ms was seen (--rtt says how far they are)"
	}
	s := sysctl("net.ipv4.tcp_slow_start_after_idle", "0",
		fmt.Sprintf("an answer after a pause begins with ten segments again: at %.0f ms (%s) a segment of 2 s at %s takes about %.0f round trips more", 1000*h.rtt, h.rttIs, mbit(h.rate), math.Ceil(math.Log2(max(2, h.rate*h.rtt/14480)))),
		"bursts into a path that changed during the pause")
	return []Risk{{Setting: s, Source: "RFC 5681, section 4.1; Documentation/networking/ip-sysctl.rst", Shows: "cwnd in ss -ti falls to 10 after each pause"}}, ""
}

// mtuProbing: viewers come by tunnels whose ICMP is lost.
func mtuProbing(h host) ([]Risk, string) {
	now, ok := h.number("net.ipv4.tcp_mtu_probing")
	switch {
	case !ok:
		return nil, ""
	case now > 0:
		return nil, "net.ipv4.tcp_mtu_probing: on"
	case !h.far:
		return nil, "net.ipv4.tcp_mtu_probing: no peer farther than 10 ms was seen (--rtt says how far they are)"
	}
	return []Risk{{Setting: sysctl("net.ipv4.tcp_mtu_probing", "1", "it is 0: a viewer behind a tunnel that filters ICMP gets small answers and no segment", "smaller packets where loss is taken for a black hole"),
		Source: "RFC 4821; net/ipv4/tcp_timer.c (tcp_mtu_probing)", Shows: "ss -ti: backoff of 3 and more with bytes_acked standing still: snag find names it pmtu-blackhole"}}, ""
}

// acceptQueues hold who connects while the server does not accept.
func acceptQueues(h host) (out []Risk, covered string) {
	seconds := h.r.Length().Seconds()
	came := map[string]float64{}
	for _, c := range h.r.Connections {
		if c.Role == "accept" && h.own(c.Netns) {
			came[recording.Port(c.Local)] += float64(c.Opened)
		}
	}
	most, _ := h.number("net.core.somaxconn")
	seen := map[string]bool{}
	for _, k := range h.r.Sockets {
		port := recording.Port(k.Local)
		if k.State != "LISTEN" || !h.own(k.Netns) || seen[port] || seconds <= 0 || len(k.Owners) == 0 || came[port] == 0 {
			continue
		}
		seen[port] = true
		need := math.Ceil(came[port] / seconds * stall)
		if float64(k.SendQ) >= need {
			covered = fmt.Sprintf("accept queues: that of %s holds %d, and %.0f come in %.0f ms", k.Local, k.SendQ, need, 1000*stall)
			continue
		}
		want := math.Exp2(math.Ceil(math.Log2(1.25 * need)))
		why := fmt.Sprintf("%.0f connections per second come to %s, so %.0f while it pauses for %.0f ms, and its queue holds %d", came[port]/seconds, k.Local, need, 1000*stall, k.SendQ)
		r := Risk{Call: suspect.Call{Who: recording.Subject{PID: k.Owners[0].PID, Comm: k.Owners[0].Comm}, Do: fmt.Sprintf("listen(fd, %.0f)", want), Why: why},
			Source: "net/socket.c (__sys_listen); Documentation/networking/ip-sysctl.rst (somaxconn)", Shows: "TcpExtListenOverflows grows: snag find names it listen-overflow"}
		if most > 0 && most < want {
			r.Setting = sysctl("net.core.somaxconn", whole(want), why, "connections may wait longer before they are refused")
			r.Setting.Needs = "a restart of " + k.Owners[0].Comm
		}
		out = append(out, r)
	}
	return out, covered
}

// descriptors: a server needs one for each client.
func descriptors(h host) (out []Risk, covered string) {
	listens := map[int]bool{}
	for _, k := range h.r.Sockets {
		if k.State == "LISTEN" {
			for _, o := range k.Owners {
				listens[o.PID] = true
			}
		}
	}
	last := map[int]recording.Process{}
	var order []int
	for _, p := range h.r.Processes {
		if _, ok := last[p.PID]; !ok {
			order = append(order, p.PID)
		}
		last[p.PID] = p
	}
	for _, pid := range order {
		p := last[pid]
		if !listens[pid] || p.FDs == nil || p.FDLimit <= 0 || p.Self {
			continue
		}
		if 2**p.FDs < p.FDLimit {
			covered = fmt.Sprintf("descriptors: %s[%d] has %s of %s", p.Comm, pid, units.Count(float64(*p.FDs)), units.Count(float64(p.FDLimit)))
			continue
		}
		out = append(out, descriptorsOf(p)...)
	}
	return out, covered
}

// descriptorsOf a process that has half of them open.
func descriptorsOf(p recording.Process) []Risk {
	to := max(4*p.FDLimit, 65536)
	s := suspect.Setting{Kind: "nofile", Value: fmt.Sprintf("%d:%d", to, max(to, p.FDHard)), At: recording.Subject{PID: p.PID, Comm: p.Comm}, Needs: "LimitNOFILE= in its unit, to last over its restart",
		Why: fmt.Sprintf("%s[%d] has %s of %s descriptors open: twice the clients, and accept fails", p.Comm, p.PID, units.Count(float64(*p.FDs)), units.Count(float64(p.FDLimit))), Risk: "what leaks descriptors goes on leaking"}
	return []Risk{{Setting: s, Source: "getrlimit(2); systemd.exec(5), LimitNOFILE=", Shows: "EMFILE from accept: snag find names it fd-limit"}}
}

// outgoingPorts: each closed connection holds its port for a minute.
func outgoingPorts(h host) (out []Risk, covered string) {
	v, ok := h.numbers("net.ipv4.ip_local_port_range", 2)
	if !ok {
		return nil, ""
	}
	have := v[1] - v[0] + 1
	for _, p := range h.r.Ports {
		if h.own(p.Netns) && float64(p.InUse) >= 0.5*have {
			return []Risk{{Setting: sysctl("net.ipv4.ip_local_port_range", "1024 65535",
				fmt.Sprintf("%s of %s ports towards %s are in use: at twice the rate none are left", units.Count(float64(p.InUse)), units.Count(have), p.Remote),
				"a server that binds a port above 1023 later may find it taken (net.ipv4.ip_local_reserved_ports)"),
				Source: "Documentation/networking/ip-sysctl.rst (ip_local_port_range); net/ipv4/inet_hashtables.c", Shows: "EADDRNOTAVAIL from connect: snag find names it ephemeral-ports"}}, ""
		}
	}
	return nil, fmt.Sprintf("net.ipv4.ip_local_port_range: no destination has half of the %s ports in use", units.Count(have))
}

// conntrack: what does not fit into the table is dropped.
func conntrack(h host) ([]Risk, string) {
	most, ok := h.number("net.netfilter.nf_conntrack_max")
	if !ok || most == 0 {
		return nil, ""
	}
	for _, s := range h.r.Select("node_nf_conntrack_entries") {
		used, _ := s.Max()
		if _, other := s.Labels["netns"]; other {
			continue
		}
		if used < 0.5*most {
			return nil, fmt.Sprintf("net.netfilter.nf_conntrack_max: %s of %s entries are taken", units.Count(used), units.Count(most))
		}
		return []Risk{{Setting: sysctl("net.netfilter.nf_conntrack_max", whole(2*most), fmt.Sprintf("%s of %s entries are taken: at twice the connections new ones are dropped", units.Count(used), units.Count(most)),
			units.Bytes(320*most)+" of memory when it is full"), Source: "Documentation/networking/nf_conntrack-sysctl.rst", Shows: "drop in /proc/net/stat/nf_conntrack: snag find names it conntrack-full"}}, ""
	}
	return nil, ""
}

// nodelay: a request in two writes waits for the delayed acknowledgement of the first.
func nodelay(h host) (out []Risk, covered string) {
	seen := map[int]bool{}
	for _, k := range h.r.Sockets {
		if k.Proto != "tcp" || k.Options == nil || k.Options.NoDelay == nil || len(k.Owners) == 0 || k.State != "ESTABLISHED" || !smallTurns(k.TCP) {
			continue
		}
		o := k.Owners[0]
		if *k.Options.NoDelay {
			covered = fmt.Sprintf("TCP_NODELAY: %s[%d] sets it", o.Comm, o.PID)
			continue
		}
		if seen[o.PID] || len(out) == 5 {
			continue
		}
		seen[o.PID] = true
		out = append(out, Risk{Call: suspect.Call{Who: recording.Subject{PID: o.PID, Comm: o.Comm}, Do: "setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, 1), or one write for what belongs together",
			Why: fmt.Sprintf("its connection to %s has Nagle's algorithm on: a request in two writes waits up to 40 ms", k.Remote)},
			Source: "RFC 896; RFC 1122, section 4.2.3.4", Shows: "delayed writes: snag find names it nagle-delayed-ack"})
	}
	return out, covered
}

// smallTurns tells of a connection that goes both ways in small segments: requests and
// answers. Who sends full segments is not held by Nagle's algorithm.
func smallTurns(i *recording.TCPInfo) bool {
	return i != nil && i.DataSegsIn > 0 && i.DataSegsOut > 0 && i.SndMSS > 0 && float64(i.BytesSent)/float64(i.DataSegsOut) < 0.5*float64(i.SndMSS)
}
