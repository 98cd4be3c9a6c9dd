package pcap

import (
	"net/netip"

	"snag/internal/packet"
)

// icmpKey is what one end of a connection sends.
type icmpKey struct {
	key
	side int
}

// tooBig is what ICMP said of its packets.
type tooBig struct {
	n   uint64
	mtu int
}

// maxTooBig bounds the flows that are kept of it.
const maxTooBig = 4096

// unreached takes an ICMP message about a packet that did not arrive.
func (a *analysis) unreached(at int64, u *packet.Unreached) {
	k, side := keyOf(u.Src, u.Dst)
	switch {
	case u.Why == packet.TooBig:
		m := a.tooBig[icmpKey{k, side}]
		if m == nil {
			if len(a.tooBig) >= maxTooBig {
				return
			}
			m = &tooBig{}
			a.tooBig[icmpKey{k, side}] = m
		}
		m.n++
		if u.MTU > 0 && (m.mtu == 0 || u.MTU < m.mtu) {
			m.mtu = u.MTU
		}
	case u.Why == packet.NoPort && u.Proto == packet.UDP:
		a.datagrams.unreached(at, k, side)
	case u.Proto == packet.TCP && said[u.Why] != "":
		o := a.undelivered[icmpKey{k, side}]
		if o == nil {
			if len(a.undelivered) >= maxTooBig {
				return
			}
			o = &undelivered{}
			a.undelivered[icmpKey{k, side}] = o
		}
		o.n, o.why, o.by = o.n+1, u.Why, u.From
	}
}

// undelivered is what ICMP said last of packets that did not arrive, and who said it.
type undelivered struct {
	n   uint64
	why packet.Why
	by  netip.Addr
}

// said is how a recording names why they did not.
var said = map[packet.Why]string{packet.NoRoute: "no route", packet.Refused: "filtered", packet.NoPort: "no port"}
