package hosts

import (
	"cmp"
	"net"
	"net/netip"
	"slices"

	"snag/internal/sorting"
)

// place is a host that answers at an address.
type place struct {
	host   *Host
	server string // its own address and port; another one than was asked for where that stands for it
}

// places are the hosts that may answer at an address which a host asks: those behind an address that stands for several
// servers (NAT, IPVS), as the asking host leads it, or any other does, else the one that has it. The one that is more
// likely to hold up the asking host is first: one with a culprit, an affected one, then the one with most connections.
func (f *Fleet) places(asking *Host, server string) (out []place) {
	for _, to := range f.behind(asking, server) {
		if h := f.at(to.to); h != nil && !slices.ContainsFunc(out, func(o place) bool { return o.host == h }) {
			out = append(out, place{h, to.to})
		}
	}
	sorting.StableBy(out, func(a, b place) int { return cmp.Compare(rank(a.host), rank(b.host)) })
	if h := f.at(server); len(out) == 0 && h != nil {
		out = append(out, place{h, server})
	}
	return out
}

// rank is lower of hosts that are known to be in trouble.
func rank(h *Host) int {
	switch {
	case len(h.Culprits) > 0:
		return 0
	case h.Affected():
		return 1
	}
	return 2
}

// behind are the servers that an address stands for.
func (f *Fleet) behind(asking *Host, server string) (out []forward) {
	if to := asking.forwards[server]; len(to) > 0 {
		return to
	}
	for _, name := range f.names() {
		out = append(out, f.Hosts[name].forwards[server]...)
	}
	sorting.StableBy(out, func(a, b forward) int { return cmp.Compare(b.connections, a.connections) })
	return out
}

// own tells whether an address is a host's own, and stands for no other.
func (f *Fleet) own(h *Host, server string) bool {
	return f.at(server) == h && len(h.forwards[server]) == 0
}

// addressOf is the address of a server, without its port. A name or a port alone has none, nor has what each host has.
func addressOf(server string) (netip.Addr, bool) {
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		host = server // of a peer that is known by its address alone
	}
	a, err := netip.ParseAddr(host)
	return a.Unmap(), err == nil && !a.IsLoopback()
}

// at is the host that has a server's address; nil: none that is known, or several, as behind NAT or with VRRP.
func (f *Fleet) at(server string) *Host {
	a, ok := addressOf(server)
	if !ok || len(f.byAddress[a]) != 1 {
		return nil
	}
	return f.Hosts[f.byAddress[a][0]]
}
