// Package packet reads the headers of a captured packet down to TCP or UDP. It is
// pure, allocates nothing, and trusts no length: what a capture cut off is told
// apart from what the sender left out. Checksums are ignored: a host's own packets
// are captured before the NIC makes them.
package packet

import (
	"encoding/binary"
	"net/netip"
)

// Ethertypes (IEEE 802 numbers, IANA).
const (
	EtherIPv4 = 0x0800
	EtherVLAN = 0x8100
	EtherIPv6 = 0x86dd
	EtherQinQ = 0x88a8
)

// Protocols (IANA assigned internet protocol numbers).
const (
	TCP = 6
	UDP = 17
)

// Flags of TCP (RFC 9293, section 3.1).
const (
	FIN = 1 << iota
	SYN
	RST
	PSH
	ACK
)

// Packet is what the headers say. Payload points into the capture's memory and is
// good until the next packet.
type Packet struct {
	Src, Dst netip.AddrPort
	Proto    uint8
	Flags    uint8  // TCP
	Seq, Ack uint32 // TCP
	Window   uint16 // TCP, not scaled
	Payload  []byte
	// Len is the payload's length on the wire; more than len(Payload) where the
	// capture cut it off.
	Len int
}

// Decode reads a packet from its network header on; proto is the ethertype. wire
// is the packet's length on the wire from there on, 0 where it is not known. ok is
// false for what is no whole TCP or UDP header: another protocol, a later fragment,
// bytes that contradict themselves. Of a first fragment the Payload is what it has.
func Decode(proto uint16, b []byte, wire int, p *Packet) bool {
	for tags := 0; proto == EtherVLAN || proto == EtherQinQ; tags++ { // IEEE 802.1Q, stacked by 802.1ad
		if tags == 2 || len(b) < 4 {
			return false
		}
		proto = binary.BigEndian.Uint16(b[2:])
		b, wire = b[4:], max(wire-4, 0)
	}
	switch proto {
	case EtherIPv4:
		return ipv4(b, wire, p)
	case EtherIPv6:
		return ipv6(b, wire, p)
	}
	return false
}

// ipv4 reads RFC 791, section 3.1.
func ipv4(b []byte, wire int, p *Packet) bool {
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
	if flags&0x1fff != 0 { // a later fragment: no header
		return false
	}
	src, dst := netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
	return transport(b[9], b[head:min(len(b), total)], total-head, flags&0x2000 != 0, src, dst, p)
}

// ipv6 reads RFC 8200, sections 3 and 4: the extension headers are passed over.
func ipv6(b []byte, wire int, p *Packet) bool {
	if len(b) < 40 || b[0]>>4 != 6 {
		return false
	}
	length := int(binary.BigEndian.Uint16(b[4:]))
	next := b[6]
	src, dst := netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
	b = b[40:]
	if length == 0 { // a jumbogram (RFC 2675), which BIG TCP sends up to 512 KiB long
		length = max(wire-40, len(b))
	}
	b = b[:min(len(b), length)]
	first := false // of several fragments
	for range 8 {
		var n int
		switch next {
		case TCP, UDP:
			return transport(next, b, length, first, src, dst, p)
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
		case 44: // fragment: a later one has no header
			if len(b) < 8 || binary.BigEndian.Uint16(b[2:])&0xfff8 != 0 {
				return false
			}
			first = b[3]&1 != 0
			n = 8
		default:
			return false
		}
		if len(b) < n {
			return false
		}
		next, b, length = b[0], b[n:], length-n
	}
	return false
}

// transport reads a TCP or UDP header. first says that more fragments follow: of
// TCP the sequence numbers tell what is missing then, of UDP the datagram's own length.
func transport(proto uint8, b []byte, length int, first bool, src, dst netip.Addr, p *Packet) bool {
	if len(b) < 8 {
		return false
	}
	head := 8
	*p = Packet{
		Proto: proto,
		Src:   netip.AddrPortFrom(src, binary.BigEndian.Uint16(b)),
		Dst:   netip.AddrPortFrom(dst, binary.BigEndian.Uint16(b[2:])),
	}
	switch proto {
	case TCP:
		if len(b) < 20 {
			return false
		}
		if head = int(b[12]>>4) * 4; head < 20 || length < head {
			return false
		}
		p.Seq, p.Ack = binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
		p.Flags, p.Window = b[13], binary.BigEndian.Uint16(b[14:])
	case UDP:
		if n := int(binary.BigEndian.Uint16(b[4:])); n >= head {
			if length = min(length, n); first {
				length = n
			}
		}
	default:
		return false
	}
	p.Len = length - head
	p.Payload = b[min(head, len(b)):min(len(b), max(length, head))]
	return p.Len >= 0
}
