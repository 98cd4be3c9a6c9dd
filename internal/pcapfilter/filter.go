// Package pcapfilter reads filter expressions as tcpdump has them (pcap-filter(7)), as far as
// they are about addresses, ports and protocols, and tells of a decoded packet whether it
// matches. It compiles nothing to BPF: what is filtered are packets whose tunnels were taken off.
package pcapfilter

import (
	"net/netip"
	"strings"

	"snag/internal/packet"
)

// Filter reports whether a packet matches. Both ports are 0 where it has none.
type Filter func(p *Packet) bool

// Packet is what filters look at.
type Packet struct {
	Src, Dst         netip.Addr
	SrcPort, DstPort uint16
	Proto            uint8 // of IP: packet.TCP, packet.UDP …
	Len              int   // of the IP packet on the wire
}

// kinds of what stands behind the qualifiers.
const (
	host      = "host"
	network   = "net"
	port      = "port"
	portRange = "portrange"
	protocol  = "proto"
)

// protocols are the words for them, and the number in IP.
var protocols = map[string]uint8{"icmp": packet.ICMP, "tcp": packet.TCP, "udp": packet.UDP, "icmp6": packet.ICMPv6, "sctp": 132, "gre": 47, "esp": 50, "ah": 51, "igmp": 2}

// qualifiers stand before a value, and hold for those behind it that have none.
type qualifiers struct {
	family    string // ip, ip6 or ""
	proto     string // tcp, udp … or ""
	direction string // src, dst, "src or dst", "src and dst"
	kind      string
}

// with makes a filter of tests of the source and of the destination.
func (q qualifiers) with(src, dst func(*Packet) bool) Filter {
	base := q.base()
	return func(p *Packet) bool {
		if !base(p) {
			return false
		}
		switch q.direction {
		case "src":
			return src(p)
		case "dst":
			return dst(p)
		case "src and dst":
			return src(p) && dst(p)
		}
		return src(p) || dst(p)
	}
}

// base is what the words for protocols say alone.
func (q qualifiers) base() Filter {
	number, named := protocols[q.proto]
	return func(p *Packet) bool {
		switch {
		case q.family == "ip" && !p.Src.Is4(), q.family == "ip6" && p.Src.Is4():
			return false
		case named && p.Proto != number:
			return false
		}
		return true
	}
}

func (q qualifiers) prefix(n netip.Prefix) Filter {
	return q.with(func(p *Packet) bool { return n.Contains(p.Src) }, func(p *Packet) bool { return n.Contains(p.Dst) })
}

func (q qualifiers) ports(low, high uint16) Filter {
	in := func(n uint16) bool { return n >= low && n <= high && n != 0 }
	return q.with(func(p *Packet) bool { return in(p.SrcPort) }, func(p *Packet) bool { return in(p.DstPort) })
}

func (q qualifiers) number(n uint8) Filter {
	base := q.base()
	return func(p *Packet) bool { return base(p) && p.Proto == n }
}

// words parts an expression at blanks and around brackets.
func words(text string) []string {
	text = strings.NewReplacer("(", " ( ", ")", " ) ", "!", " not ", "&&", " and ", "||", " or ", `\`, "").Replace(text)
	return strings.Fields(text)
}
