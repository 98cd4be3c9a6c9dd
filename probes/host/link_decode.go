package host

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// link is one interface as RTM_GETLINK tells it.
type link struct {
	Index   int
	Name    string
	Kind    string // veth, tun …; "" for a device of a driver
	MTU     int
	TxQueue int // txqueuelen, packets: the limit of pfifo_fast
	Up      bool
	Carrier *bool
	Peer    int
	Stats   *linkStats
}

// linkStats is the part of struct rtnl_link_stats64 that is recorded.
type linkStats struct {
	RxPackets, TxPackets, RxBytes, TxBytes, RxErrors, TxErrors, RxDropped, TxDropped uint64
}

// decodeLink reads the payload of a reply: struct ifinfomsg and its attributes.
func decodeLink(data []byte) (link, error) {
	if len(data) < 16 {
		return link{}, fmt.Errorf("decode a link: %d bytes are not an ifinfomsg", len(data))
	}
	l := link{
		Index: int(int32(binary.NativeEndian.Uint32(data[4:]))),
		Up:    binary.NativeEndian.Uint32(data[8:])&unix.IFF_UP != 0,
	}
	ad, err := netlink.NewAttributeDecoder(data[16:])
	if err != nil {
		return link{}, fmt.Errorf("decode a link: %w", err)
	}
	peer := 0
	for ad.Next() {
		b := ad.Bytes()
		switch ad.Type() {
		case unix.IFLA_IFNAME:
			l.Name = ad.String()
		case unix.IFLA_MTU:
			l.MTU = number(b)
		case unix.IFLA_LINK:
			peer = number(b)
		case unix.IFLA_TXQLEN:
			l.TxQueue = number(b)
		case unix.IFLA_CARRIER:
			if len(b) >= 1 {
				up := b[0] != 0
				l.Carrier = &up
			}
		case unix.IFLA_LINKINFO:
			nested(b, func(kind uint16, v []byte) {
				if kind == unix.IFLA_INFO_KIND {
					l.Kind = text(v)
				}
			})
		case unix.IFLA_STATS64:
			if len(b) >= 64 {
				at := func(i int) uint64 { return binary.NativeEndian.Uint64(b[8*i:]) }
				l.Stats = &linkStats{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)}
			}
		}
	}
	if err := ad.Err(); err != nil {
		return link{}, fmt.Errorf("decode a link: %w", err)
	}
	if l.Kind == "veth" { // elsewhere IFLA_LINK is a lower device or the link itself
		l.Peer = peer
	}
	return l, nil
}

// addr is an address of an interface, with the length of its network.
type addr struct {
	Index  int
	Prefix netip.Prefix
}

// decodeAddr reads one reply of RTM_GETADDR: struct ifaddrmsg and its attributes.
func decodeAddr(data []byte) (addr, error) {
	if len(data) < 8 {
		return addr{}, fmt.Errorf("decode an address: %d bytes are not an ifaddrmsg", len(data))
	}
	var local, address netip.Addr
	ad, err := netlink.NewAttributeDecoder(data[8:])
	if err != nil {
		return addr{}, fmt.Errorf("decode an address: %w", err)
	}
	for ad.Next() {
		a, ok := netip.AddrFromSlice(ad.Bytes())
		switch {
		case !ok:
		case ad.Type() == unix.IFA_LOCAL:
			local = a
		case ad.Type() == unix.IFA_ADDRESS:
			address = a
		}
	}
	if err := ad.Err(); err != nil {
		return addr{}, fmt.Errorf("decode an address: %w", err)
	}
	if local.IsValid() { // on a point-to-point link IFA_ADDRESS is the other end
		address = local
	}
	p := netip.PrefixFrom(address, int(data[1]))
	if !p.IsValid() {
		return addr{}, fmt.Errorf("decode an address: %v/%d is none", address, data[1])
	}
	return addr{Index: int(binary.NativeEndian.Uint32(data[4:])), Prefix: p}, nil
}

func number(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(int32(binary.NativeEndian.Uint32(b)))
}

// text is a C string without its NUL.
func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
