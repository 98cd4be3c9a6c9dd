package packet

import (
	"encoding/binary"
	"net/netip"
)

// Unreached is an ICMP message that says that a packet did not arrive.
type Unreached struct {
	From       netip.Addr // who says so
	Why        Why
	Type, Code uint8
	MTU        int // TooBig: the next hop's; 0: it does not say
	// The packet that did not arrive, as far as the message holds it.
	Proto    uint8
	Src, Dst netip.AddrPort // ports 0 where they are not in it
	Seq      uint32         // TCP
	Size     int            // of that packet, bytes; 0 not known
}

// Why a packet did not arrive.
type Why uint8

// Reasons, of RFC 792, 1191, 1812 and 4443.
const (
	OtherWhy Why = iota
	TooBig       // fragmentation needed and DF set, or IPv6's packet too big
	NoPort
	NoRoute // to the network or the host
	Refused // by a filter
	Expired // its TTL, or its time to be put together
)

// ReadUnreached reads an ICMP error, with what it holds of the packet that it is about.
func ReadUnreached(ip *IP, u *Unreached) bool {
	b := ip.Body
	if ip.Offset != 0 || len(b) < 8+20 {
		return false
	}
	*u = Unreached{From: ip.Src, Type: b[0], Code: b[1]}
	proto := uint16(EtherIPv4)
	switch ip.Proto {
	case ICMP:
		if !u.v4(b) {
			return false
		}
	case ICMPv6:
		if !u.v6(b) {
			return false
		}
		proto = EtherIPv6
	default:
		return false
	}
	var inner IP
	if !inner.Decode(proto, b[8:], 0) || inner.Offset != 0 {
		return false
	}
	u.Proto, u.Size = inner.Proto, inner.Size
	var sport, dport uint16
	if p := inner.Body; len(p) >= 8 && (inner.Proto == TCP || inner.Proto == UDP) {
		sport, dport = binary.BigEndian.Uint16(p), binary.BigEndian.Uint16(p[2:])
		if inner.Proto == TCP {
			u.Seq = binary.BigEndian.Uint32(p[4:])
		}
	}
	u.Src, u.Dst = netip.AddrPortFrom(inner.Src, sport), netip.AddrPortFrom(inner.Dst, dport)
	return true
}

func (u *Unreached) v4(b []byte) bool {
	switch {
	case u.Type == 11:
		u.Why = Expired
	case u.Type != 3:
		return false
	case u.Code == 4:
		u.Why, u.MTU = TooBig, int(binary.BigEndian.Uint16(b[6:]))
	case u.Code == 3:
		u.Why = NoPort
	case u.Code <= 1 || u.Code == 5 || u.Code == 6 || u.Code == 7 || u.Code == 11 || u.Code == 12:
		u.Why = NoRoute
	case u.Code == 9 || u.Code == 10 || u.Code == 13:
		u.Why = Refused
	}
	return true
}

func (u *Unreached) v6(b []byte) bool {
	switch {
	case u.Type == 2:
		u.Why, u.MTU = TooBig, int(binary.BigEndian.Uint32(b[4:]))
	case u.Type == 3:
		u.Why = Expired
	case u.Type != 1:
		return false
	case u.Code == 4:
		u.Why = NoPort
	case u.Code == 0 || u.Code == 2 || u.Code == 3:
		u.Why = NoRoute
	case u.Code == 1 || u.Code == 5 || u.Code == 6:
		u.Why = Refused
	}
	return true
}
