package routes

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// route is one route as RTM_GETROUTE tells it (include/uapi/linux/rtnetlink.h).
type route struct {
	Dst       netip.Prefix
	Type      int // unix.RTN_…
	Table     int
	Via       netip.Addr // zero: none
	Index     int        // of the device; 0: none
	From      netip.Addr
	Metric    int
	MTU       int
	Hops      []hop
	Exception bool
	Expires   float64 // s
}

// hop is one of several next hops.
type hop struct {
	Via    netip.Addr
	Index  int
	Weight int
}

// userHZ is the unit of rta_expires on every architecture that snag runs on
// (net/core/rtnetlink.c, rtnl_put_cacheinfo; include/asm-generic/param.h).
const userHZ = 100

// decodeRoute reads the payload of a reply: struct rtmsg and its attributes.
func decodeRoute(data []byte) (route, error) {
	if len(data) < 12 {
		return route{}, fmt.Errorf("decode a route: %d bytes are not a rtmsg", len(data))
	}
	zero := netip.IPv4Unspecified()
	if data[0] == unix.AF_INET6 {
		zero = netip.IPv6Unspecified()
	}
	r := route{Dst: netip.PrefixFrom(zero, 0), Table: int(data[4]), Type: int(data[7]),
		Exception: binary.NativeEndian.Uint32(data[8:])&unix.RTM_F_CLONED != 0}
	ad, err := netlink.NewAttributeDecoder(data[12:])
	if err != nil {
		return route{}, fmt.Errorf("decode a route: %w", err)
	}
	for ad.Next() {
		b := ad.Bytes()
		switch ad.Type() {
		case unix.RTA_DST:
			if a, ok := netip.AddrFromSlice(b); ok {
				r.Dst = netip.PrefixFrom(a, int(data[1]))
			}
		case unix.RTA_GATEWAY:
			r.Via, _ = netip.AddrFromSlice(b)
		case unix.RTA_VIA: // struct rtvia: a gateway of the other family
			if len(b) > 2 {
				r.Via, _ = netip.AddrFromSlice(b[2:])
			}
		case unix.RTA_OIF:
			r.Index = number(b)
		case unix.RTA_PREFSRC:
			r.From, _ = netip.AddrFromSlice(b)
		case unix.RTA_PRIORITY:
			r.Metric = number(b)
		case unix.RTA_TABLE:
			r.Table = number(b)
		case unix.RTA_METRICS:
			r.MTU = mtuOf(b)
		case unix.RTA_MULTIPATH:
			r.Hops = decodeHops(b)
		case unix.RTA_CACHEINFO: // struct rta_cacheinfo
			if len(b) >= 12 {
				r.Expires = float64(int32(binary.NativeEndian.Uint32(b[8:]))) / userHZ
			}
		}
	}
	if err := ad.Err(); err != nil {
		return route{}, fmt.Errorf("decode a route: %w", err)
	}
	return r, nil
}

func mtuOf(b []byte) (mtu int) {
	ad, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return 0
	}
	for ad.Next() {
		if ad.Type() == unix.RTAX_MTU {
			mtu = number(ad.Bytes())
		}
	}
	return mtu
}

// decodeHops reads struct rtnexthop, each followed by its attributes. A torn one
// ends the list.
func decodeHops(b []byte) (out []hop) {
	for len(b) >= 8 {
		size := int(binary.NativeEndian.Uint16(b))
		if size < 8 || size > len(b) {
			return out
		}
		h := hop{Weight: int(b[3]) + 1, Index: int(int32(binary.NativeEndian.Uint32(b[4:])))}
		if ad, err := netlink.NewAttributeDecoder(b[8:size]); err == nil {
			for ad.Next() {
				if ad.Type() == unix.RTA_GATEWAY {
					h.Via, _ = netip.AddrFromSlice(ad.Bytes())
				}
			}
		}
		out = append(out, h)
		b = b[min(len(b), (size+3)&^3):]
	}
	return out
}

// number reads a u32, 0 where there is none.
func number(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(binary.NativeEndian.Uint32(b))
}

// routeTypes are the names of ip route for those that do not simply forward.
var routeTypes = map[int]string{
	unix.RTN_BLACKHOLE: "blackhole", unix.RTN_UNREACHABLE: "unreachable",
	unix.RTN_PROHIBIT: "prohibit", unix.RTN_THROW: "throw",
}
