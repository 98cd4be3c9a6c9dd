package ingest

import (
	"fmt"
	"net"
	"net/netip"
)

// mostPorts of one capture; its filter has room for 32.
const mostPorts = 16

// ownAddresses are those of the interfaces in the namespace of the calling thread.
func ownAddresses() (out []netip.Addr, err error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list the addresses of a network namespace: %w", err)
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr().Unmap())
		}
	}
	return out, nil
}

// addrPort reads address:port, without the address's zone.
func addrPort(s string) (netip.AddrPort, bool) {
	at, err := netip.ParseAddrPort(s)
	if err != nil {
		return at, false
	}
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port()), true
}
