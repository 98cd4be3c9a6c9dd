package load

import (
	"context"
	"net"
	"net/netip"
)

// Here reports whether a target's address is this host's own.
func (t Target) Here(ctx context.Context) (bool, error) {
	host, _, err := net.SplitHostPort(t.Address)
	if err != nil {
		return false, err
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return false, err
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false, err
	}
	for _, a := range all {
		if a.Unmap().IsLoopback() {
			continue
		}
		found := false
		for _, o := range own {
			if p, err := netip.ParsePrefix(o.String()); err == nil && p.Addr() == a.Unmap().WithZone("") {
				found = true
			}
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}
