package packet

import (
	"encoding/binary"
	"fmt"
)

// Link is a capture file's link type (https://www.tcpdump.org/linktypes.html).
type Link uint16

// MaxSnap is the snap length that means "all of it" (libpcap's MAXIMUM_SNAPLEN).
const MaxSnap = 262144

// Link types that are read.
const (
	LinkNull     Link = 0
	LinkEthernet Link = 1
	LinkRawBSD   Link = 12 // raw IP, as files of some BSDs number it
	LinkRawOpen  Link = 14 // the same, OpenBSD's
	LinkRaw      Link = 101
	LinkLoop     Link = 108
	LinkSLL      Link = 113
	LinkIPv4     Link = 228
	LinkIPv6     Link = 229
	LinkSLL2     Link = 276
)

// Known returns an error for a link type that is not read.
func (l Link) Known() error {
	switch l {
	case LinkNull, LinkEthernet, LinkRawBSD, LinkRawOpen, LinkRaw, LinkLoop, LinkSLL, LinkIPv4, LinkIPv6, LinkSLL2:
		return nil
	}
	return fmt.Errorf("link type %d is not read (capture on an Ethernet or loopback interface, or on \"any\")", uint16(l))
}

// Network finds the network header of a packet captured on the link: its
// ethertype, the bytes from there on, and how long the link's header was.
func (l Link) Network(b []byte) (proto uint16, rest []byte, head int, ok bool) {
	switch l {
	case LinkEthernet:
		head = 14
		if len(b) >= head {
			proto = binary.BigEndian.Uint16(b[12:])
		}
	case LinkSLL:
		head = 16
		if len(b) >= head {
			proto = binary.BigEndian.Uint16(b[14:])
		}
	case LinkSLL2:
		head = 20
		if len(b) >= head {
			proto = binary.BigEndian.Uint16(b)
		}
	case LinkNull, LinkLoop:
		head = 4 // an address family, in whichever byte order: the IP version says the same
	case LinkRaw, LinkRawBSD, LinkRawOpen, LinkIPv4, LinkIPv6:
	default:
		return 0, nil, 0, false
	}
	if len(b) <= head {
		return 0, nil, 0, false
	}
	rest = b[head:]
	if proto == 0 {
		switch rest[0] >> 4 {
		case 4:
			proto = EtherIPv4
		case 6:
			proto = EtherIPv6
		}
	}
	return proto, rest, head, true
}

// Way is which way a packet went, as seen from where it was captured.
type Way uint8

// Ways. Only the cooked link types tell.
const (
	Unknown Way = iota
	In
	Out
)

// Way reads the packet type of a cooked header (packet(7), PACKET_OUTGOING is 4).
func (l Link) Way(b []byte) Way {
	kind := uint16(0)
	switch {
	case l == LinkSLL && len(b) >= 2:
		kind = binary.BigEndian.Uint16(b)
	case l == LinkSLL2 && len(b) >= 11:
		kind = uint16(b[10])
	default:
		return Unknown
	}
	if kind == 4 {
		return Out
	}
	return In
}

// Index is the interface that a packet of "any" was captured on, of which only the
// second cooked link type tells; 0: not known.
func (l Link) Index(b []byte) uint32 {
	if l != LinkSLL2 || len(b) < 8 {
		return 0
	}
	return binary.BigEndian.Uint32(b[4:])
}

// LeastSnap is a snap length that keeps all headers: Ethernet with two tags, IPv6 and
// TCP with all its options.
const LeastSnap = 14 + 8 + 40 + 60
