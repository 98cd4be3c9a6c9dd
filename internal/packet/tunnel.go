package packet

import "encoding/binary"

// What packets are wrapped in (IANA: protocol numbers, ethertypes, ports).
const (
	protoIPv4 = 4  // IP within IP (RFC 2003)
	protoIPv6 = 41 // 6in4 (RFC 4213), and IPv6 within IPv6 (RFC 2473)
	protoGRE  = 47

	etherMPLS      = 0x8847
	etherMPLSMulti = 0x8848
	etherBridged   = 0x6558 // a whole Ethernet frame
	etherSPAN      = 0x88be // what a switch's port mirrors: ERSPAN, types I and II
	etherSPAN3     = 0x22eb // type III

	portGTP       = 2152
	portTeredo    = 3544
	portVXLAN     = 4789
	portGENEVE    = 6081
	portVXLANOver = 8472 // Linux' own number for VXLAN, older than the standard's
)

// mostTunnels within each other are read.
const mostTunnels = 4

// Unwrap puts the packet that a tunnel carries in the place of the tunnel's, as often as there is
// one: of IP in IP, GRE, ERSPAN, VXLAN, GENEVE, GTP-U and Teredo. What is encrypted stays as it is. It
// reports whether there was one.
func (ip *IP) Unwrap() (any bool) {
	for range mostTunnels {
		proto, n, ok := ip.wraps()
		if !ok || n > len(ip.Body) {
			return any
		}
		var inner IP
		if !inner.Decode(proto, ip.Body[n:], max(ip.Len-n, 0)) {
			return any
		}
		*ip, any = inner, true
	}
	return any
}

// wraps finds the packet within: its ethertype and where it begins in the body.
func (ip *IP) wraps() (proto uint16, at int, ok bool) {
	if ip.Offset != 0 || ip.More {
		return 0, 0, false
	}
	switch b := ip.Body; ip.Proto {
	case protoIPv4:
		return EtherIPv4, 0, true
	case protoIPv6:
		return EtherIPv6, 0, true
	case protoGRE:
		return gre(b)
	case UDP:
		if len(b) < 16 {
			return 0, 0, false
		}
		switch binary.BigEndian.Uint16(b[2:]) {
		case portVXLAN, portVXLANOver:
			if b[8]&0x08 != 0 { // the network's number is there (RFC 7348, section 5)
				return frame(b, 16)
			}
		case portGENEVE:
			return geneve(b)
		case portGTP:
			return gtp(b)
		case portTeredo:
			return teredo(b)
		}
		if binary.BigEndian.Uint16(b) == portTeredo {
			return teredo(b)
		}
	}
	return 0, 0, false
}

// frame is an Ethernet frame at n.
func frame(b []byte, n int) (proto uint16, at int, ok bool) {
	if len(b) < n+14 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint16(b[n+12:]), n + 14, true
}

// inner is an IP packet at n, whose version reports which.
func inner(b []byte, n int) (proto uint16, at int, ok bool) {
	if n >= len(b) {
		return 0, 0, false
	}
	switch b[n] >> 4 {
	case 4:
		return EtherIPv4, n, true
	case 6:
		return EtherIPv6, n, true
	}
	return 0, 0, false
}

// gre reads RFC 2784 and RFC 2890; PPTP's form (version 1) carries PPP, and is not read.
func gre(b []byte) (proto uint16, at int, ok bool) {
	if len(b) < 4 || b[1]&7 != 0 || b[0]&0x40 != 0 { // routing (RFC 1701) is long gone
		return 0, 0, false
	}
	n := 4
	for _, flag := range []byte{0x80, 0x20, 0x10} { // checksum, key, sequence number
		if b[0]&flag != 0 {
			n += 4
		}
	}
	switch proto = binary.BigEndian.Uint16(b[2:]); proto {
	case etherBridged:
		return frame(b, n)
	case etherSPAN, etherSPAN3:
		return span(b, n, proto, b[0]&0x10 != 0)
	}
	return proto, n, true
}

// span reads what a switch mirrors (draft-foschiano-erspan-03): of type I, without a sequence number,
// there is no header of its own.
func span(b []byte, n int, proto uint16, numbered bool) (uint16, int, bool) {
	switch {
	case proto == etherSPAN && numbered:
		n += 8
	case proto == etherSPAN3 && len(b) >= n+12:
		n += 12
		if b[n-1]&1 != 0 { // of the platform
			n += 8
		}
	}
	return frame(b, n)
}

// geneve reads RFC 8926, section 3.4.
func geneve(b []byte) (proto uint16, at int, ok bool) {
	n := 16 + int(b[8]&0x3f)*4
	if b[8]>>6 != 0 {
		return 0, 0, false
	}
	if proto = binary.BigEndian.Uint16(b[10:]); proto == etherBridged {
		return frame(b, n)
	}
	return proto, n, true
}

// gtp reads a G-PDU of GTP-U (3GPP TS 29.281, section 5).
func gtp(b []byte) (proto uint16, at int, ok bool) {
	if b[8]>>5 != 1 || b[8]&0x10 == 0 || b[9] != 0xff {
		return 0, 0, false
	}
	n := 16
	if b[8]&7 != 0 {
		n += 4
		for b[8]&4 != 0 && n < len(b) && b[n-1] != 0 { // extension headers, each with the next one's type at its end
			if b[n] == 0 {
				return 0, 0, false
			}
			n += int(b[n]) * 4
		}
	}
	return inner(b, n)
}

// teredo reads RFC 4380, section 5.1.1.
func teredo(b []byte) (proto uint16, at int, ok bool) {
	n := 8
	if len(b) >= n+13 && b[n] == 0 && b[n+1] == 1 { // authentication
		n += 13 + int(b[n+2]) + int(b[n+3])
	}
	if len(b) >= n+8 && b[n] == 0 && b[n+1] == 0 { // the origin
		n += 8
	}
	if n < len(b) && b[n]>>4 == 6 {
		return EtherIPv6, n, true
	}
	return 0, 0, false
}

// mpls passes over labels (RFC 3032): what is below them is IP, or Ethernet behind a control word
// (RFC 4448).
func mpls(b []byte) (proto uint16, at int, ok bool) {
	for n := 0; n+4 < len(b) && n < 64; {
		bottom := b[n+2]&1 == 1
		if n += 4; !bottom {
			continue
		}
		if b[n]>>4 == 0 {
			return frame(b, n+4)
		}
		return inner(b, n)
	}
	return 0, 0, false
}
