package trial

import (
	"slices"

	"snag/load/elimination"
)

// addRound adds a round of probes to what is known of the hops. The first address that reports one is kept: where a
// balancer sends packets over several ways, a hop has more.
func addRound(hops []elimination.Hop, all []*probe) []elimination.Hop {
	for i, p := range all {
		if i == len(hops) {
			hops = append(hops, elimination.Hop{TTL: p.ttl})
		}
		h := &hops[i]
		h.Sent++
		if p.from == "" {
			continue
		}
		h.Times = append(h.Times, p.took)
		if h.Address == "" {
			h.Address = p.from
		}
		h.End = h.End || p.reached
	}
	return hops
}

// known ends at the host, or at the last hop that answered.
func known(hops []elimination.Hop) []elimination.Hop {
	last := 0
	for i, h := range hops {
		if h.Address != "" {
			last = i + 1
		}
		if h.End {
			break
		}
	}
	return hops[:last]
}

// summed has the median, the shortest and the longest time of each hop.
func summed(hops []elimination.Hop) []elimination.Hop {
	for i := range hops {
		h := &hops[i]
		slices.Sort(h.Times)
		if n := len(h.Times); n > 0 {
			h.Answered, h.RTT, h.Least, h.Most = n, h.Times[n/2], h.Times[0], h.Times[n-1]
		}
		h.Times = nil
	}
	return hops
}
