package hosts

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// drops are suspects of a host that itself drops what it is sent, or what it sends: at the other end that looks like
// loss on the way. A full accept queue drops the last packet of each connect; a storm fills it.
var drops = map[string]bool{
	"listen-overflow": true, "reconnect-storm": true, "syn-flood": true, "qdisc-drop": true, "netfilter-drop": true, "conntrack-full": true, "softnet-backlog": true, "nic-ring-overflow": true,
}

// lost are the suspects of who sees packets go missing, wherever that is. A queue that has no room for large packets
// seems not to let them pass.
var lost = []string{"packet-loss", "pmtu-blackhole"}

// silent is the suspect of who waits for an end that says nothing more: a full accept queue drops what ends a
// handshake, so that a client takes itself for connected.
const silent = "half-open-peer"

var ends = regexp.MustCompile(`(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\])(:\d{1,5})?`)

// loses reports whether a host's verdict says that packets are lost.
func (h *Host) loses() bool { return len(h.Culprits) > 0 && slices.Contains(lost, h.Culprits[0].Name) }

// losesTo are the ends of the way on which a host's verdict says that packets are lost, or nothing comes back, with a
// port, which is 0 where it names none.
func (h *Host) losesTo() (all []string) {
	if !h.loses() && (len(h.Culprits) == 0 || h.Culprits[0].Name != silent) {
		return nil
	}
	return addressesIn(h.Culprits[0].Subject)
}

// connectsLate are the ends of the ways on which a host, of which nothing else is proved, notices that packets go
// missing: its connects are late, as those that open a connection are sent again.
func (h *Host) connectsLate() (all []string) {
	for _, s := range h.Symptoms {
		if len(h.Culprits) == 0 && s.Name == "connect-latency" {
			all = append(all, addressesIn(s.Subject)...)
		}
	}
	return all
}

// addressesIn are those in a subject, with a port, which is 0 where it names none.
func addressesIn(subject string) (all []string) {
	for _, m := range ends.FindAllStringSubmatch(subject, -1) {
		if m[2] == "" {
			m[2] = ":0"
		}
		all = append(all, m[1]+m[2])
	}
	return all
}

// losesOn is the step to the other end of such a way.
func (h *Host) losesOn(server string, other *Host) Step {
	step := Step{From: h.Name, To: other.Name, Server: strings.TrimSuffix(server, ":0"), Lost: true}
	if len(h.Culprits) > 0 {
		step.Why, step.Lost = h.Culprits[0].Name, h.loses()
	}
	return step
}

// few are as many hosts as lose packets on the way to one by more than a way of their own.
const few = 2

// lostAt is the other end of that way, where that host drops the packets, or where more hosts lose packets than here:
// one that all of them reach over one bad way, or of which nothing is proved, as its recorder was too late, or its
// samples are lost too.
func (f *Fleet) lostAt(h *Host) (Step, *Host) {
	var most Step
	for _, server := range slices.Concat(h.losesTo(), h.connectsLate()) {
		other := f.at(server)
		if other == nil || other == h {
			continue
		}
		step := h.losesOn(server, other)
		if slices.ContainsFunc(other.Culprits, func(c Named) bool { return drops[c.Name] }) {
			return step, other
		}
		n, own := f.losers(other), f.losers(h)
		if (other.Affected() || other.Gone) && len(other.Culprits) == 0 && n+f.late(other) >= few { // it is there, and nobody proved what it is
			return step, other
		}
		if h.loses() && other.loses() && (n > own || n == own && f.between(h, other)) && (most.To == "" || n > f.losers(f.Hosts[most.To])) {
			most = step
		}
	}
	return most, f.Hosts[most.To]
}

// between reports whether two hosts lose packets on the way between them, and the other is the one of the two to name:
// more hosts wait for it, or else it noticed first.
func (f *Fleet) between(h, other *Host) bool {
	if !slices.ContainsFunc(other.losesTo(), func(server string) bool { return f.at(server) == h }) {
		return false
	}
	wait := func(at *Host) (n int) {
		for _, one := range f.Hosts {
			if one != h && one != other && one.Affected() && slices.ContainsFunc(one.waitsFor(), func(s Step) bool { return f.at(s.Server) == at }) {
				n++
			}
		}
		return n
	}
	return cmp.Or(cmp.Compare(wait(h), wait(other)), other.Since.Compare(h.Since), cmp.Compare(other.Name, h.Name)) < 0
}

// losers is how many hosts lose packets on a way that ends at a host, itself included.
func (f *Fleet) losers(at *Host) (n int) {
	for _, h := range f.Hosts {
		if h.Affected() && h.loses() && (h == at || slices.ContainsFunc(h.losesTo(), func(server string) bool { return f.at(server) == at })) {
			n++
		}
	}
	return n
}

// late is how many hosts notice no more of it than that they connect late to one.
func (f *Fleet) late(at *Host) (n int) {
	for _, h := range f.Hosts {
		if h.Affected() && h != at && slices.ContainsFunc(h.connectsLate(), func(server string) bool { return f.at(server) == at }) {
			n++
		}
	}
	return n
}

// lostToUnrecorded is the other end of that way, where only node_exporter is on that host: what it drops looks like
// loss on the way, and its signs may show that. The cause stays with the host that lost packets.
func (f *Fleet) lostToUnrecorded(h *Host) []Step {
	if !h.loses() {
		return nil
	}
	for _, server := range h.losesTo() {
		if other := f.at(server); other != nil && other != h && other.unrecorded() {
			step := h.losesOn(server, other)
			step.Unrecorded = true
			return []Step{step}
		}
	}
	return nil
}
