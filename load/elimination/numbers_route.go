package elimination

import (
	"fmt"
	"strings"

	"snag/internal/units"
)

// Route says how many hops there are, which one adds most to the round trip, how far its times spread, and which ones
// did not answer all probes.
func Route(hops []Hop) string {
	var most, before Hop
	added, n := 0.0, 0
	for _, h := range hops {
		if h.Address == "" {
			continue
		}
		n = h.TTL
		if h.RTT-before.RTT > added {
			added, most = h.RTT-before.RTT, h
		}
		before = h
	}
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%s; number %d of them (%s) adds %s", units.Plural(n, "hop"), most.TTL, most.Address, short(added))
	if most.Answered > 1 {
		text += fmt.Sprintf(" (%s to %s)", short(most.Least), short(most.Most))
	}
	var some []string
	for _, h := range hops {
		if h.Answered > 0 && h.Answered < h.Sent {
			some = append(some, fmt.Sprintf("number %d answered %d of %d probes", h.TTL, h.Answered, h.Sent))
		}
	}
	if len(some) > 0 {
		text += "; " + strings.Join(some, ", ")
	}
	return text
}

// ByTCP says where the route by TCP to the port differs from that by UDP; "": one of them is not known.
func ByTCP(udp, tcp []Hop) string {
	if len(udp) == 0 || len(tcp) == 0 {
		return ""
	}
	var differ []string
	for i := range min(len(udp), len(tcp)) {
		if u, t := udp[i], tcp[i]; u.Address != "" && t.Address != "" && u.Address != t.Address {
			differ = append(differ, fmt.Sprintf("number %d is %s instead of %s", t.TTL, t.Address, u.Address))
		}
	}
	u, t := udp[len(udp)-1], tcp[len(tcp)-1]
	switch {
	case u.End && !t.End:
		differ = append(differ, fmt.Sprintf("no answer behind number %d (%s)", t.TTL, t.Address))
	case t.End && !u.End:
		differ = append(differ, fmt.Sprintf("the host answers as number %d, and not by UDP", t.TTL))
	case u.End && t.End && u.TTL != t.TTL:
		differ = append(differ, fmt.Sprintf("the host is number %d", t.TTL))
	}
	if len(differ) == 0 {
		return "the same way by TCP to the port"
	}
	return "by TCP to the port " + strings.Join(differ, ", ")
}
