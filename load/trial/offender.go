package trial

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// offender is who sent the ICMP message (sock_extended_err and the address after it).
func offender(control []byte) (netip.Addr, bool) {
	all, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return netip.Addr{}, false
	}
	head := int(unsafe.Sizeof(unix.SockExtendedErr{}))
	for _, m := range all {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_RECVERR && len(m.Data) >= head+8 && m.Data[4] == unix.SO_EE_ORIGIN_ICMP:
			return netip.AddrFromSlice(m.Data[head+4 : head+8])
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_RECVERR && len(m.Data) >= head+24 && m.Data[4] == unix.SO_EE_ORIGIN_ICMP6:
			return netip.AddrFromSlice(m.Data[head+8 : head+24])
		}
	}
	return netip.Addr{}, false
}

func sockaddr(to netip.AddrPort) unix.Sockaddr {
	if to.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()}
}
