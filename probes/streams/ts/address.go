package ts

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// address is what a URL asks for: udp://[source@]group-or-address:port?interface=eth0&program=2
type address struct {
	at      netip.AddrPort // a group, an address of this host, or unspecified: any
	source  netip.Addr     // only what this host sends; invalid: anyone
	device  string         // to join the group on; "": as the routes have it
	program uint16
	shown   string
}

// form is how such a URL is written.
const form = "udp://[source@]address-or-group:port[?interface=eth0][&program=1]"

func parseURL(ctx context.Context, u *url.URL) (address, error) {
	a := address{shown: shown(u)}
	wrong := func(format string, args ...any) (address, error) {
		return a, fmt.Errorf("read %s: %s: the form is %s", a.shown, fmt.Sprintf(format, args...), form)
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return wrong("no port")
	}
	ip := netip.IPv4Unspecified()
	if host := u.Hostname(); host != "" {
		if ip, err = resolve(ctx, host); err != nil {
			return wrong("address %q: %v", host, err)
		}
	}
	a.at = netip.AddrPortFrom(ip, uint16(port))
	if from := u.User.Username(); from != "" { // udp://@group:port, as VLC writes it, is none
		if a.source, err = resolve(ctx, from); err != nil {
			return wrong("source %q: %v", from, err)
		}
		if a.source.Is4() != ip.Is4() {
			return wrong("the source and the address are not of one family")
		}
	}
	q := u.Query()
	a.device = q.Get("interface")
	if s := q.Get("program"); s != "" {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil || n == 0 {
			return wrong("program %q is not a number from 1 to 65535", s)
		}
		a.program = uint16(n)
	}
	return a, nil
}

func resolve(ctx context.Context, host string) (netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap(), nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, err
	}
	if len(ips) == 0 {
		return netip.Addr{}, fmt.Errorf("it has no address")
	}
	return ips[0].Unmap(), nil
}

// shown is the URL without its query; what stands before the @ is an address here.
func shown(u *url.URL) string {
	s := u.Scheme + "://"
	if from := u.User.Username(); from != "" {
		s += from + "@"
	}
	return s + u.Host
}
