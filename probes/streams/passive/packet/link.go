package packet

import (
	"encoding/binary"
	"fmt"
)

// Link is a capture file's link type (https://www.tcpdump.org/linktypes.html).
type Link uint16

// Link types that are read.
const (
	LinkNull     Link = 0
	LinkEthernet Link = 1
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
	case LinkNull, LinkEthernet, LinkRaw, LinkLoop, LinkSLL, LinkIPv4, LinkIPv6, LinkSLL2:
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
	case LinkRaw, LinkIPv4, LinkIPv6:
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
