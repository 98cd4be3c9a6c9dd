package hosts

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// place is a host that answers at an address.
type place struct {
	host    *Host
	service *Service // nil: the host has the address, and nobody was seen to answer there
	server  string   // its own address and port; another one than was asked for where that stands for it
}

// places are the hosts that may answer at an address which a host asks: the one that has it, or those behind an address
// that stands for several servers (NAT, IPVS), as the asking host leads it, or any other does. The one that is more
// likely to hold up the asking host is first: an affected one, then the one with most connections.
func (f *Fleet) places(asking *Host, server string) []place {
	direct, known := f.at(server)
	if known && direct.service != nil {
		return []place{direct}
	}
	var out []place
	for _, to := range f.behind(asking, server) {
		p, ok := f.at(to.to)
		if ok && !slices.ContainsFunc(out, func(o place) bool { return o.host == p.host }) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b place) int { return cmp.Compare(rank(a.host), rank(b.host)) })
	if len(out) == 0 && known {
		return []place{direct}
	}
	return out
}

// own says which addresses are a host's own, and stand for no other.
func (f *Fleet) own(h *Host) func(string) bool {
	return func(server string) bool {
		p, ok := f.at(server)
		return ok && p.host == h && len(h.forwards[server]) == 0
	}
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
	slices.SortStableFunc(out, func(a, b forward) int { return cmp.Compare(b.connections, a.connections) })
	return out
}

// at is the host that has an address, and its service there; false: none that is known. A name is none.
func (f *Fleet) at(server string) (place, bool) {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		host, port = server, "" // of a peer that is known by its address alone
	}
	a, err := netip.ParseAddr(host)
	if err != nil || a.IsLoopback() {
		return place{}, false
	}
	a = a.Unmap()
	var found *Host
	for _, name := range f.names() {
		h := f.Hosts[name]
		if !slices.Contains(h.addresses, a) {
			continue
		}
		if found != nil {
			return place{}, false // an address that several have, as behind NAT or with VRRP
		}
		found = h
	}
	if found == nil {
		return place{}, false
	}
	for _, s := range found.Services {
		if port != "" && strings.HasSuffix(s.Listener, ":"+port) {
			return place{found, s, server}, true
		}
	}
	return place{host: found, server: server}, true
}
