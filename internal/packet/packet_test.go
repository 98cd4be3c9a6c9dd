package packet

import (
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// tcp is a TCP header of 24 bytes (with an option) and a payload.
func tcp(payload string) []byte {
	b := binary.BigEndian.AppendUint16(nil, 40112)
	b = binary.BigEndian.AppendUint16(b, 1935)
	b = binary.BigEndian.AppendUint32(b, 1000)
	b = binary.BigEndian.AppendUint32(b, 2000)
	b = append(b, 6<<4, ACK|PSH, 0x10, 0, 0, 0, 0, 0, 1, 1, 1, 0)
	return append(b, payload...)
}

func v4(proto byte, total int, body []byte) []byte {
	b := []byte{0x45, 0, byte(total >> 8), byte(total), 0, 0, 0x40, 0, 64, proto, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1}
	return append(b, body...)
}

func v6(next byte, length int, body []byte) []byte {
	b := []byte{0x60, 0, 0, 0, byte(length >> 8), byte(length), next, 64}
	b = append(b, append(make([]byte, 15), 2)...)
	b = append(b, append(make([]byte, 15), 1)...)
	return append(b, body...)
}

func with(head []byte, body []byte) []byte { return append(head, body...) }

// first sets "more fragments".
func first(b []byte) []byte {
	b[6] = 0x20
	return b
}

func TestDecode(t *testing.T) {
	seg := tcp("hello")
	udp := []byte{0x1f, 0x90, 0x07, 0x8f, 0, 12, 0, 0, 'r', 't', 'p', '!'}
	longer := []byte{0x1f, 0x90, 0x07, 0x8f, 0x07, 0xd0, 0, 0, 'r', 't', 'p', '!'} // 2000 bytes
	options := append(v4(TCP, 24+len(seg), nil), 1, 1, 1, 0)
	options[0] = 0x46
	fragment := v4(TCP, 20+len(seg), seg)
	fragment[6], fragment[7] = 0x20, 10
	for _, c := range []struct {
		name  string
		proto uint16
		b     []byte
		wire  int
		want  string // "" for none
		len   int
	}{
		{"IPv4", EtherIPv4, v4(TCP, 20+len(seg), seg), 0, "hello", 5},
		{"padded by Ethernet", EtherIPv4, append(v4(TCP, 20+len(seg), seg), 0, 0, 0), 0, "hello", 5},
		{"IP options", EtherIPv4, with(options, seg), 0, "hello", 5},
		{"cut off by the capture", EtherIPv4, v4(TCP, 20+len(seg)+1000, seg), 20 + len(seg) + 1000, "hello", 1005},
		{"BIG TCP on IPv4", EtherIPv4, v4(TCP, 0, seg), 100000, "hello", 100000 - 44},
		{"a fragment", EtherIPv4, fragment, 0, "", 0},
		{"IPv6", EtherIPv6, v6(TCP, len(seg), seg), 0, "hello", 5},
		{"extension headers", EtherIPv6, v6(0, 8+8+len(seg), with([]byte{60, 0, 1, 4, 0, 0, 0, 0, TCP, 0, 1, 4, 0, 0, 0, 0}, seg)), 0, "hello", 5},
		{"an atomic fragment", EtherIPv6, v6(44, 8+len(seg), with([]byte{TCP, 0, 0, 0, 1, 2, 3, 4}, seg)), 0, "hello", 5},
		{"a first fragment", EtherIPv4, first(v4(TCP, 20+len(seg), seg)), 0, "hello", 5},
		{"a first fragment of UDP", EtherIPv4, first(v4(UDP, 20+len(longer), longer)), 0, "rtp!", 1992},
		{"a first fragment of IPv6", EtherIPv6, v6(44, 8+len(seg), with([]byte{TCP, 0, 0, 1, 1, 2, 3, 4}, seg)), 0, "hello", 5},
		{"a later fragment of IPv6", EtherIPv6, v6(44, 8+len(seg), with([]byte{TCP, 0, 0, 9, 1, 2, 3, 4}, seg)), 0, "", 0},
		{"a jumbogram", EtherIPv6, v6(0, 0, with([]byte{TCP, 0, 0xc2, 4, 0, 1, 0, 0}, seg)), 70000, "hello", 70000 - 40 - 8 - 24},
		{"VLAN", EtherVLAN, with([]byte{0, 5, 0x08, 0}, v4(TCP, 20+len(seg), seg)), 0, "hello", 5},
		{"two tags", EtherQinQ, with([]byte{0, 5, 0x81, 0, 0, 6, 0x86, 0xdd}, v6(TCP, len(seg), seg)), 0, "hello", 5},
		{"four tags", EtherQinQ, with([]byte{0, 5, 0x81, 0, 0, 6, 0x81, 0, 0, 7, 0x81, 0, 0, 8, 0x08, 0}, v4(TCP, 20+len(seg), seg)), 0, "", 0},
		{"UDP", EtherIPv4, v4(UDP, 20+len(udp), udp), 0, "rtp!", 4},
		{"ICMP", EtherIPv4, v4(1, 28, make([]byte, 8)), 0, "", 0},
		{"ARP", 0x0806, make([]byte, 28), 0, "", 0},
		{"a header that ends early", EtherIPv4, v4(TCP, 30, seg[:10]), 0, "", 0},
		{"a total under the header", EtherIPv4, v4(TCP, 10, seg), 0, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Packet
			ok := Decode(c.proto, c.b, c.wire, &p)
			if ok != (c.want != "") {
				t.Fatalf("read: %v, %+v", ok, p)
			}
			if !ok {
				return
			}
			if string(p.Payload) != c.want || p.Len != c.len {
				t.Errorf("payload %q, length %d", p.Payload, p.Len)
			}
			if p.Proto == TCP && (p.Seq != 1000 || p.Ack != 2000 || p.Flags != ACK|PSH || p.Src.Port() != 40112 || p.Dst.Port() != 1935) {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	ip := v4(TCP, 24, make([]byte, 24))
	for link, head := range map[Link]string{
		LinkEthernet: "0102030405060708090a0b0c0800",
		LinkSLL:      "00000001000600000000000000000800",
		LinkSLL2:     "0800000000000002000100040600000000000000",
		LinkNull:     "02000000",
		LinkLoop:     "00000002",
		LinkRaw:      "", LinkIPv4: "",
	} {
		b, err := hex.DecodeString(head)
		if err != nil {
			t.Fatal(err)
		}
		proto, rest, n, ok := link.Network(append(b, ip...))
		if !ok || proto != EtherIPv4 || n != len(b) || len(rest) != len(ip) || link.Known() != nil {
			t.Errorf("link %d: %v, %#x, %d, %d bytes", link, ok, proto, n, len(rest))
		}
		if _, _, _, ok := link.Network(b); ok && len(b) > 0 {
			t.Errorf("link %d: a header without a packet is read", link)
		}
	}
	if Link(105).Known() == nil {
		t.Error("802.11 is said to be known")
	}
}

func FuzzDecode(f *testing.F) {
	seg := tcp("hello")
	f.Add(uint16(EtherIPv4), v4(TCP, 20+len(seg), seg), 0)
	f.Add(uint16(EtherIPv6), v6(0, 8+len(seg), with([]byte{TCP, 0, 1, 4, 0, 0, 0, 0}, seg)), 70000)
	f.Add(uint16(EtherVLAN), with([]byte{0, 5, 0x08, 0}, v4(TCP, 20+len(seg), seg)), 100)
	f.Fuzz(func(t *testing.T, proto uint16, b []byte, wire int) {
		var p Packet
		if Decode(proto, b, wire, &p) && (p.Len < 0 || len(p.Payload) > p.Len || len(p.Payload) > len(b)) {
			t.Fatalf("%d bytes of payload, %d long, of %d", len(p.Payload), p.Len, len(b))
		}
		for _, l := range []Link{LinkEthernet, LinkSLL, LinkSLL2, LinkNull, LinkRaw} {
			l.Network(b)
		}
	})
}
