package packet

import (
	"encoding/binary"
	"net/netip"
)

// Ethertypes (IEEE 802 numbers, IANA).
const (
	EtherIPv4  = 0x0800
	EtherVLAN  = 0x8100
	EtherIPv6  = 0x86dd
	EtherPPPoE = 0x8864 // a session's (RFC 2516)
	EtherQinQ  = 0x88a8

	etherOldQinQ = 0x9100 // before 802.1ad
)

// IP is what an IPv4 or IPv6 header says. Body points into the capture's memory.
type IP struct {
	Src, Dst netip.Addr
	Proto    uint8 // of the body: extension headers are passed over
	TTL      uint8
	DF, More bool   // more fragments follow
	Offset   int    // of this fragment, bytes; 0: it is whole, or the first
	ID       uint32 // of the packet that the fragment is of
	Body     []byte // what was captured of what comes after the headers
	Len      int    // its length on the wire
	Size     int    // of the packet on the wire, headers and all
	Packet   []byte // what was captured of it, from its header on
}

// Decode reads an IP header, behind VLAN tags and PPPoE where there are such; proto is
// the ethertype. wire is the length on the wire from there on, 0 where it is not known.
func (ip *IP) Decode(proto uint16, b []byte, wire int) bool {
	switch proto {
	case EtherIPv4:
		return ip.v4(b, wire)
	case EtherIPv6:
		return ip.v6(b, wire)
	}
	for tags := 0; proto == EtherVLAN || proto == EtherQinQ || proto == etherOldQinQ; tags++ { // IEEE 802.1Q, stacked by 802.1ad
		if tags == 3 || len(b) < 4 {
			return false
		}
		proto = binary.BigEndian.Uint16(b[2:])
		b, wire = b[4:], max(wire-4, 0)
	}
	if proto == EtherPPPoE {
		if len(b) < 8 || b[0] != 0x11 || b[1] != 0 { // version, type and code of a session's packet
			return false
		}
		switch binary.BigEndian.Uint16(b[6:]) { // PPP's protocol numbers (IANA)
		case 0x0021:
			proto = EtherIPv4
		case 0x0057:
			proto = EtherIPv6
		}
		b, wire = b[8:], max(wire-8, 0)
	}
	if proto == etherMPLS || proto == etherMPLSMulti {
		next, n, ok := mpls(b)
		if !ok {
			return false
		}
		proto, b, wire = next, b[n:], max(wire-n, 0)
	}
	switch proto {
	case EtherIPv4:
		return ip.v4(b, wire)
	case EtherIPv6:
		return ip.v6(b, wire)
	}
	return false
}

// v4 reads RFC 791, section 3.1.
func (ip *IP) v4(b []byte, wire int) bool {
	if len(b) < 20 || b[0]>>4 != 4 {
		return false
	}
	head := int(b[0]&0x0f) * 4
	total := int(binary.BigEndian.Uint16(b[2:]))
	if total == 0 { // BIG TCP on IPv4: longer than 16 bits can say (Linux 6.3, net/ipv4/af_inet.c)
		total = max(wire, len(b))
	}
	if head < 20 || len(b) < head || total < head {
		return false
	}
	flags := binary.BigEndian.Uint16(b[6:])
	ip.Src, ip.Dst = netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
	ip.Proto, ip.TTL, ip.ID = b[9], b[8], uint32(binary.BigEndian.Uint16(b[4:]))
	ip.DF, ip.More, ip.Offset = flags&0x4000 != 0, flags&0x2000 != 0, int(flags&0x1fff)*8
	ip.Body, ip.Len, ip.Size = b[head:min(len(b), total)], total-head, total
	ip.Packet = b[:min(len(b), total)]
	return true
}

// v6 reads RFC 8200, sections 3 and 4.
func (ip *IP) v6(b []byte, wire int) bool {
	if len(b) < 40 || b[0]>>4 != 6 {
		return false
	}
	length := int(binary.BigEndian.Uint16(b[4:]))
	next := b[6]
	ip.Src, ip.Dst = netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
	ip.TTL, ip.ID, ip.DF, ip.More, ip.Offset = b[7], 0, true, false, 0
	whole := b
	b = b[40:]
	if length == 0 { // a jumbogram (RFC 2675), which BIG TCP sends up to 512 KiB long
		length = max(wire-40, len(b))
	}
	ip.Size = length + 40
	b = b[:min(len(b), length)]
	ip.Packet = whole[:40+len(b)]
	for range 8 {
		var n int
		switch next {
		case 0, 43, 60, 135: // hop-by-hop, routing, destination options, mobility
			if len(b) < 8 {
				return false
			}
			n = 8 + int(b[1])*8
		case 51: // authentication (RFC 4302)
			if len(b) < 8 {
				return false
			}
			n = 8 + int(b[1])*4
		case 44: // fragment
			if len(b) < 8 {
				return false
			}
			ip.Offset, ip.More = int(binary.BigEndian.Uint16(b[2:])&0xfff8), b[3]&1 != 0
			ip.ID = binary.BigEndian.Uint32(b[4:])
			n = 8
		default:
			ip.Proto, ip.Body, ip.Len = next, b, length
			return length >= 0
		}
		if len(b) < n {
			return false
		}
		next, b, length = b[0], b[n:], length-n
		if ip.Offset != 0 { // what follows is the middle of something
			ip.Proto, ip.Body, ip.Len = next, b, length
			return length >= 0
		}
	}
	return false
}
