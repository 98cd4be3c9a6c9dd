package packet

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

// udp is a datagram to a port.
func udp(port uint16, payload []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, 50000)
	b = binary.BigEndian.AppendUint16(b, port)
	b = binary.BigEndian.AppendUint16(b, uint16(8+len(payload)))
	b = append(b, 0, 0)
	return append(b, payload...)
}

// ethernet is a frame with an IPv4 packet.
func ethernet(packet []byte) []byte {
	return append(append(make([]byte, 12), 8, 0), packet...)
}

func outer(proto byte, body []byte) []byte {
	b := v4(proto, 20+len(body), body)
	copy(b[12:], []byte{192, 0, 2, 1, 192, 0, 2, 2})
	return b
}

// What is within a tunnel is read, and nothing that only looks like one.
func TestUnwrap(t *testing.T) {
	seg := tcp("hello")
	inner4, inner6 := v4(TCP, 20+len(seg), seg), v6(TCP, len(seg), seg)
	vxlan := append([]byte{8, 0, 0, 0, 0, 0, 7, 0}, ethernet(inner4)...)
	for _, c := range []struct {
		name  string
		proto uint16
		b     []byte
		read  bool
	}{
		{"IP in IP", EtherIPv4, outer(4, inner4), true},
		{"6in4", EtherIPv4, outer(41, inner6), true},
		{"GRE", EtherIPv4, outer(47, append([]byte{0, 0, 8, 0}, inner4...)), true},
		{"GRE with a key and a number", EtherIPv4, outer(47, append([]byte{0x30, 0, 8, 0, 0, 0, 0, 1, 0, 0, 0, 2}, inner4...)), true},
		{"GRE with a frame", EtherIPv4, outer(47, append([]byte{0, 0, 0x65, 0x58}, ethernet(inner4)...)), true},
		{"ERSPAN, type I", EtherIPv4, outer(47, append([]byte{0, 0, 0x88, 0xbe}, ethernet(inner4)...)), true},
		{"ERSPAN, type II", EtherIPv4, outer(47, append([]byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 7, 0x10, 1, 0, 1, 0, 0, 0, 0}, ethernet(inner4)...)), true},
		{"ERSPAN, type III", EtherIPv4, outer(47, append([]byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 7, 0x20, 1, 0, 1, 0, 0, 0, 9, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8}, ethernet(inner4)...)), true},
		{"PPTP", EtherIPv4, outer(47, append([]byte{0, 1, 0x88, 0x0b, 0, 0, 0, 0}, inner4...)), false},
		{"VXLAN", EtherIPv4, outer(UDP, udp(4789, vxlan)), true},
		{"VXLAN in VXLAN", EtherIPv4, outer(UDP, udp(4789, append([]byte{8, 0, 0, 0, 0, 0, 9, 0}, ethernet(outer(UDP, udp(8472, vxlan)))...))), true},
		{"GENEVE with an option", EtherIPv4, outer(UDP, udp(6081, append([]byte{1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 4}, ethernet(inner4)...))), true},
		{"GTP-U", EtherIPv4, outer(UDP, udp(2152, append([]byte{0x30, 0xff, 0, byte(len(inner4)), 0, 0, 0, 1}, inner4...))), true},
		{"GTP-U with an extension", EtherIPv4, outer(UDP, udp(2152, append([]byte{0x34, 0xff, 0, byte(len(inner4)), 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 1, 0}, inner4...))), true},
		{"Teredo with an origin", EtherIPv4, outer(UDP, udp(3544, append([]byte{0, 0, 1, 2, 3, 4, 5, 6}, inner6...))), true},
		{"MPLS", etherMPLS, append([]byte{0, 1, 0, 64, 0, 1, 1, 64}, inner4...), true},
		{"MPLS with a frame", etherMPLS, append([]byte{0, 1, 1, 64, 0, 0, 0, 0}, ethernet(inner4)...), true},
		{"three tags", EtherQinQ, append([]byte{0, 1, 0x91, 0, 0, 2, 0x81, 0, 0, 3, 8, 0}, inner4...), true},
		{"a name server's answer", EtherIPv4, outer(UDP, udp(53, vxlan)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Packet
			ok := DecodeInner(c.proto, c.b, len(c.b), &p)
			if got := ok && string(p.Payload) == "hello" && p.Dst.Port() == 1935; got != c.read {
				t.Fatalf("%v %+v", ok, p)
			}
			if c.read && p.Dst != netip.MustParseAddrPort("10.0.0.1:1935") && !p.Dst.Addr().Is6() {
				t.Errorf("%+v", p)
			}
			for n := range c.b { // cut anywhere, it is no panic
				DecodeInner(c.proto, c.b[:n], len(c.b), &p)
			}
		})
	}
}
