package verify

import (
	"snag/recording"
)

// kindOfLoad is one way to say how much a subject had to do.
type kindOfLoad struct {
	unit string
	// in is the amount in the whole window; false: not measured.
	in func(r *recording.Recording, sub recording.Subject) (float64, bool)
}

// loads, the nearest to the subject first: the first that had something before is
// taken. What was offered is wanted, not what was served: what was lost or left waiting
// counts as load.
var loads = []kindOfLoad{
	{"requests/s", requests},
	{"datagrams/s", datagrams},
	{"connections/s", connections},
	{"requests/s of its control group", ofGroup},
	{"packets/s", ofDevice},
	{"packets/s of all CPUs", ofCPUs},
	{"bytes/s", bytesOf},
	{"packets/s of its network namespace", ofNetns},
}

// leastLoad is how many requests, packets or bytes tell how much there was to do: of fewer
// the number alone varies by a third (Poisson, 2 σ).
const leastLoad = 40

// loadBeside is the load of the culprit's subject, or of whoever suffered; what there was
// little of is taken where there is nothing else.
func loadBeside(before, after *recording.Recording, was, now recording.Subject, felt measure) *Load {
	for _, least := range []float64{leastLoad, 1} {
		l := loadOf(before, was, after, now, least)
		if l == nil && felt.subject != nil {
			sufferer := *felt.subject
			sufferer.PID = 0 // known by its name and port
			l = loadOf(before, sufferer, after, sufferer, least)
		}
		if l != nil {
			return l
		}
	}
	return nil
}

// loadOf is the load beside a subject, before and after, of which there was so much before at
// least.
func loadOf(before *recording.Recording, was recording.Subject, after *recording.Recording, now recording.Subject, least float64) *Load {
	for _, k := range loads {
		b, ok := k.in(before, was)
		if !ok || b < least {
			continue
		}
		a, ok := k.in(after, now)
		if !ok {
			continue
		}
		b /= before.Length().Seconds()
		a /= after.Length().Seconds()
		return &Load{Unit: k.unit, Before: b, After: a, Ratio: a / b}
	}
	return nil
}

// requests are the turns that ended at the subject's port or of its program, and those
// that are still open at the end.
func requests(r *recording.Recording, sub recording.Subject) (n float64, ok bool) {
	if _, ok := r.Measured("sockets.turns"); !ok {
		return 0, false
	}
	open := map[string]uint64{}
	for _, t := range r.Turns {
		if !atPort(sub, t.Netns, t.Local, t.Remote) && (sub.Comm == "" || t.Comm != sub.Comm || t.Netns != sub.Netns) {
			continue
		}
		n += float64(t.N)
		open[t.Local+t.Remote] = t.Open
	}
	for _, o := range open {
		n += float64(o)
	}
	return n, true
}

// atPort reports whether one of two addresses is the subject's service.
func atPort(sub recording.Subject, netns uint64, local, remote string) bool {
	if sub.Netns != 0 && netns != sub.Netns {
		return false
	}
	for _, mine := range []string{sub.Local, sub.Remote} {
		if p := recording.Port(mine); p != "" && (p == recording.Port(local) || p == recording.Port(remote)) {
			return true
		}
	}
	return false
}

// datagrams are those that came for the UDP sockets of the subject's namespace, lost
// ones too.
func datagrams(r *recording.Recording, sub recording.Subject) (n float64, ok bool) {
	if sub.Proto != "udp" {
		return 0, false
	}
	for _, name := range []string{"node_netstat_Udp_InDatagrams", "node_netstat_Udp_InErrors"} {
		s := netstat(name)(r, sub)
		n, ok = n+s.sum(), ok || s.measured
	}
	return n, ok
}

// connections are those that were opened at or to the subject's port. Those that failed
// are no measure of what was asked for: whoever fails tries again at once.
func connections(r *recording.Recording, sub recording.Subject) (n float64, ok bool) {
	if _, ok := r.Measured("sockets.connections"); !ok || sub.Proto == "udp" {
		return 0, false
	}
	for _, c := range r.Connections {
		if atPort(sub, c.Netns, c.Local, c.Remote) || sub.Comm != "" && c.Comm == sub.Comm && c.Netns == sub.Netns {
			n += float64(c.Opened)
		}
	}
	return n, true
}

// ofDevice are the packets that were to leave by the subject's interface, those that
// its qdisc dropped too, and those that came.
func ofDevice(r *recording.Recording, sub recording.Subject) (n float64, ok bool) {
	if sub.Device == "" {
		return 0, false
	}
	for _, name := range []string{"node_network_transmit_packets_total", "node_network_receive_packets_total", "node_qdisc_drops_total"} {
		s := sample(name)(r, sub)
		n, ok = n+s.sum(), ok || s.measured
	}
	return n, ok
}

// bytesOf are those that the subject's sockets sent and received.
func bytesOf(r *recording.Recording, sub recording.Subject) (n float64, ok bool) {
	type ends struct{ first, last uint64 }
	by := map[uint64]*ends{}
	for _, k := range r.Sockets {
		if k.TCP == nil || !atPort(sub, k.Netns, k.Local, k.Remote) && (sub.PID == 0 || len(k.Owners) == 0 || k.Owners[0].PID != sub.PID) {
			continue
		}
		total := k.TCP.BytesSent + k.TCP.BytesReceived
		if by[k.Inode] == nil {
			by[k.Inode] = &ends{first: total}
		}
		by[k.Inode].last = max(total, by[k.Inode].first)
	}
	for _, e := range by {
		n += float64(e.last - e.first)
	}
	return n, len(by) > 0
}

// ofGroup are the requests of the programs of a control group.
func ofGroup(r *recording.Recording, sub recording.Subject) (n float64, ok bool) {
	if _, measured := r.Measured("sockets.turns"); !measured || sub.Cgroup == "" {
		return 0, false
	}
	in := map[int]bool{}
	for _, p := range r.Processes {
		if p.Cgroup == sub.Cgroup || p.GroupOf("unified") == sub.Cgroup {
			in[p.PID] = true
		}
	}
	for _, t := range r.Turns {
		if in[t.PID] {
			n += float64(t.N)
		}
	}
	return n, len(in) > 0
}

// ofCPUs are the packets that the machine's CPUs received, and those that had no place
// in their backlogs: the load of a CPU's receive work.
func ofCPUs(r *recording.Recording, sub recording.Subject) (n float64, ok bool) {
	if sub.Kind != recording.KindCPU {
		return 0, false
	}
	for _, name := range []string{"node_softnet_processed_total", "node_softnet_dropped_total"} {
		s := sample(name)(r, recording.Subject{})
		n, ok = n+s.sum(), ok || s.measured
	}
	return n, ok
}

// ofNetns are the packets that the subject's namespace received and was to send.
func ofNetns(r *recording.Recording, sub recording.Subject) (n float64, ok bool) {
	if sub.Netns == 0 {
		return 0, false
	}
	for _, name := range []string{"node_netstat_Ip_InReceives", "node_netstat_Ip_OutRequests"} {
		s := netstat(name)(r, sub)
		n, ok = n+s.sum(), ok || s.measured
	}
	return n, ok
}
