package measure

import (
	"net/netip"

	"snag/recording"
)

// RouteTo is the route that a namespace's packets to that address take, what the
// kernel learnt about the address aside: the longest prefix, then the lowest
// metric, of the main tables. Policy rules (ip rule) are not recorded. False where
// no route was recorded for it.
func RouteTo(r *recording.Recording, netns uint64, addr string) (best recording.Route, ok bool) {
	at, err := netip.ParseAddr(addr)
	if err != nil {
		return best, false
	}
	bits := -1
	for _, row := range r.Routes {
		if row.Netns != netns || row.Exception {
			continue
		}
		p, err := netip.ParsePrefix(row.Dst)
		if err != nil || !p.Contains(at) || p.Bits() < bits || p.Bits() == bits && row.Metric > best.Metric {
			continue
		}
		best, bits, ok = row, p.Bits(), true // a later row of the same route is a change of it
	}
	return best, ok
}
