// Package packet reads the headers of a captured packet down to TCP, UDP or an ICMP
// error. It is pure, allocates nothing, and trusts no length: what a capture cut off
// is told apart from what the sender left out. Checksums are ignored: a host's own
// packets are captured before the NIC makes them.
package packet

import (
	"encoding/binary"
	"net/netip"
)

// Protocols (IANA assigned internet protocol numbers).
const (
	ICMP   = 1
	TCP    = 6
	UDP    = 17
	ICMPv6 = 58
)

// Flags of TCP (RFC 9293, section 3.1).
const (
	FIN = 1 << iota
	SYN
	RST
	PSH
	ACK
)

// Packet is what the headers say. Payload and Options point into the capture's memory
// and are good until the next packet.
type Packet struct {
	Src, Dst netip.AddrPort
	Proto    uint8
	Flags    uint8  // TCP
	TTL      uint8  // IPv6's hop limit
	DF       bool   // routers may not fragment it: always so with IPv6
	ID       uint16 // IPv4's identification; 0 with IPv6
	Seq, Ack uint32 // TCP
	Window   uint16 // TCP, not scaled
	Options  []byte // TCP's, as far as they were captured: see ReadOptions
	// Cut reports that the capture cut options off.
	Cut     bool
	Payload []byte
	// Len is the payload's length on the wire; more than len(Payload) where the
	// capture cut it off.
	Len int
	// Size is the IP packet's length on the wire, headers and all.
	Size int
}

// Network is the ethertype of an IP packet.
func (ip *IP) Network() uint16 {
	if ip.Src.Is4() {
		return EtherIPv4
	}
	return EtherIPv6
}

// Decode reads a packet from its network header on; proto is the ethertype. wire
// is the packet's length on the wire from there on, 0 where it is not known. ok is
// false for what is no whole TCP or UDP header: another protocol, a later fragment,
// bytes that contradict themselves. Of a first fragment the Payload is what it has.
func Decode(proto uint16, b []byte, wire int, p *Packet) bool {
	var ip IP
	return ip.Decode(proto, b, wire) && Transport(&ip, p)
}

// DecodeInner is Decode of what a packet carries, where it is a tunnel's.
func DecodeInner(proto uint16, b []byte, wire int, p *Packet) bool {
	var ip IP
	if !ip.Decode(proto, b, wire) {
		return false
	}
	ip.Unwrap()
	return Transport(&ip, p)
}

// Transport reads the TCP or UDP header of an IP packet. Of the first of several
// fragments TCP's sequence numbers tell what is missing, and the datagram's own
// length tells it of UDP.
func Transport(ip *IP, p *Packet) bool {
	b, length, head := ip.Body, ip.Len, 8
	if len(b) < head || ip.Offset != 0 || ip.Proto != TCP && ip.Proto != UDP {
		return false
	}
	// Field by field: clearing and filling it whole costs as much as the rest.
	p.Src = netip.AddrPortFrom(ip.Src, binary.BigEndian.Uint16(b))
	p.Dst = netip.AddrPortFrom(ip.Dst, binary.BigEndian.Uint16(b[2:]))
	p.Proto, p.TTL, p.DF, p.ID, p.Size = ip.Proto, ip.TTL, ip.DF, uint16(ip.ID), ip.Size
	if ip.Proto == TCP {
		if len(b) < 20 {
			return false
		}
		if head = int(b[12]>>4) * 4; head < 20 || length < head {
			return false
		}
		p.Seq, p.Ack = binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
		p.Flags, p.Window = b[13], binary.BigEndian.Uint16(b[14:])
		p.Options, p.Cut = b[20:min(head, len(b))], head > len(b)
	} else {
		p.Seq, p.Ack, p.Flags, p.Window, p.Options, p.Cut = 0, 0, 0, 0, nil, false
		if n := int(binary.BigEndian.Uint16(b[4:])); n >= head {
			if length = min(length, n); ip.More {
				length = n
			}
		}
	}
	p.Len = length - head
	p.Payload = b[min(head, len(b)):min(len(b), max(length, head))]
	return p.Len >= 0
}
