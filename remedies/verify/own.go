package verify

import (
	"strconv"
	"strings"

	"snag/recording"
	"snag/remedies/verify/episode"
	"snag/verdict"
)

// own is what a suspect counts of itself, without a floor.
type own struct {
	what string // what it counts
	unit string
	in   func(r *recording.Recording, sub recording.Subject) seconds
}

// owns are the counters of the suspects whose remedies snag can apply. Others are
// judged by what is felt, and by the harm that the suspect finds.
var owns = map[string]own{
	"listen-overflow":         {"TcpExt ListenOverflows", "handshakes/s", netstat("node_netstat_TcpExt_ListenOverflows")},
	"udp-receive-buffer-full": {"drops of the socket", "datagrams/s", socketDrops},
	"conntrack-full":          {"packets that conntrack dropped", "packets/s", netstat("node_nf_conntrack_stat_drop")},
	"cpu-throttled":           {"throttled periods", "periods/s", sample("snag_cgroup_cpu_throttled_periods_total")},
	"qdisc-drop":              {"drops of the qdisc", "packets/s", sample("node_qdisc_drops_total")},
	"fq-flow-limit":           {"drops for fq's flow limit", "packets/s", sample("snag_qdisc_flow_limit_drops_total")},
	"softnet-backlog":         {"drops at the CPUs' backlogs", "packets/s", sample("node_softnet_dropped_total")},
	"softirq-on-one-cpu":      {"drops at the CPUs' backlogs", "packets/s", sample("node_softnet_dropped_total")},
	"reverse-path-filter":     {"TcpExt IPReversePathFilter", "packets/s", netstat("node_netstat_TcpExt_IPReversePathFilter")},
	"neighbour-failed":        {"packets dropped for want of a neighbour", "packets/s", dropsOf("NEIGH_")},
	"pmtu-blackhole":          {"packets too big for the path", "packets/s", dropsOf("PKT_TOO_BIG")},
	"nagle-delayed-ack":       {"time that Nagle's algorithm delayed small writes", "s/s", holds},
	"fd-limit":                {"time without a free descriptor", "s/s", fullTables},
	"ephemeral-ports":         {"connects that failed", "connects/s", failedConnects},
}

// backsOff is the suspect whose counter counts what TCP tries again and again, after twice
// the time each (RFC 6298, 5.5): it becomes less by itself.
const backsOff = "pmtu-blackhole"

// ownOf compares a culprit's own counter; false where it has none.
func ownOf(e verdict.Entry, before, after *verdict.Verdict, now recording.Subject, k episode.Around) (Compared, bool) {
	o, ok := owns[e.Suspect.Name]
	if !ok {
		return Compared{}, false
	}
	b := o.in(before.Recording, e.Subject)
	if b.sum() == 0 {
		return Compared{}, false // it was told by something else
	}
	c := compare(b, o.in(after.Recording, now), k)
	c.What, c.Unit, c.backsOff = o.what, o.unit, e.Suspect.Name == backsOff
	return c, true
}

// netstat sums a counter that each namespace has.
func netstat(name string) func(*recording.Recording, recording.Subject) seconds {
	return func(r *recording.Recording, sub recording.Subject) seconds {
		return counters(r, name, func(l recording.Labels) bool { return inNetns(r, l, sub.Netns) })
	}
}

// sample sums the series of a name whose labels agree with the subject's parts.
func sample(name string) func(*recording.Recording, recording.Subject) seconds {
	return func(r *recording.Recording, sub recording.Subject) seconds {
		return counters(r, name, func(l recording.Labels) bool {
			agrees := func(label, want string) bool { return want == "" || l[label] == "" || l[label] == want }
			return (sub.Netns == 0 || sub.Device == "" || inNetns(r, l, sub.Netns)) &&
				agrees("device", sub.Device) && agrees("cgroup", sub.Cgroup)
		})
	}
}

func counters(r *recording.Recording, name string, of func(recording.Labels) bool) seconds {
	s := newSeconds(r)
	s.measured = false
	for _, series := range r.Select(name) {
		if len(series.Points) > 1 && of(series.Labels) {
			s.measured = true
			s.grow(r, series.Points)
		}
	}
	return s
}

// inNetns reports whether a series is of a namespace; those of the own one have no label.
func inNetns(r *recording.Recording, l recording.Labels, id uint64) bool {
	if id == 0 || id == r.Manifest.Netns {
		return l["netns"] == ""
	}
	return l["netns"] == strconv.FormatUint(id, 10)
}

// socketDrops is what the drop counters of the sockets at the subject's port grew by,
// and what the namespace counted meanwhile (RcvbufErrors): a socket that was made and
// closed between two looks has no counter to read.
func socketDrops(r *recording.Recording, sub recording.Subject) seconds {
	s := newSeconds(r)
	s.measured = false
	last := map[uint64]recording.Socket{}
	for _, k := range r.Sockets {
		if k.Proto != "udp" || sub.Netns != 0 && k.Netns != sub.Netns || sub.Local != "" && recording.Port(k.Local) != recording.Port(sub.Local) {
			continue
		}
		s.measured = true
		if p, ok := last[k.Inode]; ok && k.Drops >= p.Drops {
			s.bad[s.at(r, p.T.Add(k.T.Sub(p.T)/2))] += float64(k.Drops - p.Drops)
		} else if !ok && k.T.Sub(r.Manifest.Start) > 2e9 {
			s.bad[s.at(r, k.T)] += float64(k.Drops) // opened within the window
		}
		last[k.Inode] = k
	}
	if !s.measured {
		return netstat("node_netstat_Udp_RcvbufErrors")(r, sub)
	}
	return s
}

// dropsOf counts the packets that the kernel freed for a reason of that name.
func dropsOf(reason string) func(*recording.Recording, recording.Subject) seconds {
	return func(r *recording.Recording, sub recording.Subject) seconds {
		s := newSeconds(r)
		_, s.measured = r.Measured("drops.reason")
		for _, d := range r.Drops {
			if strings.HasPrefix(d.Reason, reason) && (sub.Netns == 0 || d.Netns == 0 || d.Netns == sub.Netns) {
				s.bad[s.at(r, d.T)] += float64(d.N)
			}
		}
		return s
	}
}

// lateHold is how long a write is held at least to count: an ACK is delayed by 40 ms at
// most (TCP_DELACK_MIN, include/net/tcp.h); held by Nagle alone, it waits for a round
// trip.
const lateHold = 0.010 // s

// holds is how long writes of the subject's program, to or from its port, were held.
func holds(r *recording.Recording, sub recording.Subject) seconds {
	s := newSeconds(r)
	_, s.measured = r.Measured("sockets.holds")
	for _, h := range r.Holds {
		at := recording.Port(h.Local) == recording.Port(sub.Local) || recording.Port(h.Remote) == recording.Port(sub.Remote)
		if h.Comm == sub.Comm && (h.Netns == sub.Netns || sub.Netns == 0) && at && h.Released > 0 && h.HoldSum >= lateHold*float64(h.Released) {
			s.bad[s.at(r, h.T)] += h.HoldSum
		}
	}
	return s
}

// fullTables is the time in which all descriptors of the subject's program were in use,
// but for one that is kept for logs.
func fullTables(r *recording.Recording, sub recording.Subject) seconds {
	s := newSeconds(r)
	s.measured = false
	var full []recording.Interval
	var before *recording.Process
	for i := range r.Processes {
		p := &r.Processes[i]
		if p.PID != sub.PID || p.FDs == nil || p.FDLimit == 0 {
			continue
		}
		s.measured = true
		if before != nil && *before.FDs >= before.FDLimit-1 {
			full = append(full, recording.Interval{Start: before.T, End: p.T})
		}
		before = p
	}
	if before != nil && *before.FDs >= before.FDLimit-1 {
		full = append(full, recording.Interval{Start: before.T, End: r.Manifest.End})
	}
	if len(full) > 0 {
		s.during(r, full, 1)
	}
	return s
}

// failedConnects counts the connects to the subject's destination that failed.
func failedConnects(r *recording.Recording, sub recording.Subject) seconds {
	s := newSeconds(r)
	_, s.measured = r.Measured("sockets.connections")
	for _, c := range r.Connections {
		if c.Role == "connect" && c.Remote == sub.Remote && (sub.Netns == 0 || c.Netns == 0 || c.Netns == sub.Netns) {
			s.bad[s.at(r, c.T)] += float64(c.Failed)
		}
	}
	return s
}
