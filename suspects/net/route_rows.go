package net

import (
	"net/netip"
	"slices"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// learntMTU is the path MTU that a namespace's kernel learnt for an address, 0 for
// none.
func learntMTU(r *recording.Recording, netns uint64, addr string) int {
	mtu := 0
	for _, row := range r.Routes {
		p, err := netip.ParsePrefix(row.Dst)
		if row.Netns == netns && row.Exception && row.MTU > 0 && err == nil && p.Addr().String() == addr {
			mtu = row.MTU
		}
	}
	return mtu
}

// mtuOf is the last MTU of an interface, 0 where it was not recorded.
func mtuOf(r *recording.Recording, netns uint64, device string) int {
	for i := len(r.Links) - 1; i >= 0; i-- {
		if l := r.Links[i]; l.Netns == netns && l.Name == device {
			return l.MTU
		}
	}
	return 0
}

// neighbourSeen reports how an address of a link was seen: dead in some row; alive in some
// row after that, or in any where it never was dead.
func neighbourSeen(r *recording.Recording, netns uint64, addr, device string) (dead, alive bool) {
	for _, n := range r.Neighbours {
		if n.Netns != netns || n.Addr != addr || n.Device != device {
			continue
		}
		switch n.State {
		case "FAILED", "INCOMPLETE":
			if !dead { // until then it answered: that it did says nothing of later
				alive = false
			}
			dead = true
		case "REACHABLE":
			alive = true
		}
	}
	return dead, alive
}

// partyTo is the socket on this host that sent these packets or that they are for,
// and how many of them have one; nil for none. Packets of strangers to nobody are
// not missed.
func partyTo(s *scene.Scene, r *recording.Recording, rows []recording.Drop) (party *scene.Socket, n float64) {
	for _, d := range measure.ByEnds(rows) {
		k := measure.HolderOf(s, r, d.Proto, d.Src, d.Dst)
		if k == nil && d.Sent {
			k = s.SocketByInode(measure.Namespace(r, d.Netns), d.Inode)
		}
		if k == nil {
			k = measure.HolderOf(s, r, d.Proto, d.Dst, d.Src)
		}
		if k == nil {
			continue
		}
		n += float64(d.N)
		if party == nil {
			party = k
		}
	}
	return party, n
}

// enough reports that so many dropped packets with a socket here are missed: as many as nobody
// loses by chance, or one of a connection that waited for an acknowledgement meanwhile: it
// sends again ever less often (RFC 6298, 5.5).
func enough(wanted float64, party *scene.Socket) bool {
	return party != nil && (wanted >= wantedPackets || wanted >= fewOfStuck && (stuck(party) || party.Peer != nil && stuck(party.Peer)))
}

const (
	fewOfStuck = 1
	stuckFor   = 2 // s without an acknowledgement; that of a healthy path comes within one
)

func stuck(k *scene.Socket) bool {
	return slices.ContainsFunc(k.Rows, func(row recording.Socket) bool {
		return row.Proto == "tcp" && row.State == "ESTABLISHED" && row.TCP != nil && row.SendQ > 0 && row.TCP.LastAck >= stuckFor
	})
}

// countedIn is how much counters of a namespace grew together (those of IPv4 and
// IPv6), whether any was measured, and whether these drops agree with them over the
// span in which they were read: the probes begin one after another.
func countedIn(r *recording.Recording, netns uint64, drops measure.Steps, names ...string) (sum float64, same, ok bool) {
	var span recording.Interval
	for _, name := range names {
		series, measured := measure.Counter(r, netns, name)
		if !measured {
			continue
		}
		if n, grown := series.Increase(); grown {
			sum, ok = sum+n, true
			span = series.Span()
		}
	}
	if ok {
		_, same = drops.AgreeIn(sum, span)
	}
	return sum, same, ok
}
