package netns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Dial connects inside the namespace at path (/run/netns/x, /proc/812/ns/net); ""
// is the own one. The name is looked up in the own one, whose resolver is snag's.
// Addresses are tried in turn until one answers or ctx or d's timeout ends it.
func Dial(ctx context.Context, d *net.Dialer, path, network, address string) (net.Conn, error) {
	if path == "" {
		return d.DialContext(ctx, network, address)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil, fmt.Errorf("find network namespace %s: %w", path, err)
	}
	h, err := Open(Namespace{ID: st.Ino, Path: path})
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if d.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.Timeout)
		defer cancel()
	}
	all, err := lookUp(ctx, network, address)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, a := range all {
		var c net.Conn
		// A literal address is connected by the calling goroutine alone
		// (net.Dialer tries several at once only for names), so the socket is of
		// this thread's namespace.
		err := h.Do(func() (err error) {
			c, err = d.DialContext(ctx, network, a.String())
			return err
		})
		if err == nil {
			return c, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// lookUp is the addresses of host:port, in the resolver's order.
func lookUp(ctx context.Context, network, address string) ([]netip.AddrPort, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, network, service)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var all []netip.AddrPort
	for _, ip := range ips {
		all = append(all, netip.AddrPortFrom(ip.Unmap(), uint16(port)))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("look up %s: it has no address", host)
	}
	return all, nil
}
