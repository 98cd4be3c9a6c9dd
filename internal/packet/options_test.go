package packet

import (
	"net/netip"
	"testing"
)

func TestReadOptions(t *testing.T) {
	for name, c := range map[string]struct {
		b    []byte
		want Options
	}{
		"a SYN of Linux": {
			[]byte{2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7},
			Options{MSS: 1460, SACKOK: true, TSVal: 9, Stamped: true, Scale: 7, Scaled: true},
		},
		"data": {[]byte{1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2}, Options{TSVal: 1, TSEcr: 2, Stamped: true}},
		"SACK": {
			[]byte{1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 8},
			Options{SACK: [4][2]uint32{{1, 2}, {5, 8}}, SACKs: 2},
		},
		"a scale beyond the largest": {[]byte{3, 3, 60, 0}, Options{Scale: 14, Scaled: true}},
		"cut by the capture":         {[]byte{2, 4, 5, 0xb4, 8, 10, 0, 0}, Options{MSS: 1460}},
		"a length of none":           {[]byte{2, 0, 2, 4, 1, 1}, Options{}},
		"behind the end":             {[]byte{0, 2, 4, 5, 0xb4}, Options{}},
	} {
		var o Options
		if ReadOptions(c.b, &o); o != c.want {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// error4 is an ICMP message about a packet, from 10.0.0.2.
func error4(kind, code byte, mtu uint16, about []byte) []byte {
	b := append([]byte{kind, code, 0, 0, 0, 0, byte(mtu >> 8), byte(mtu)}, about...)
	return v4(ICMP, 20+len(b), b)
}

func error6(kind, code byte, mtu uint16, about []byte) []byte {
	b := append([]byte{kind, code, 0, 0, 0, 0, byte(mtu >> 8), byte(mtu)}, about...)
	return v6(ICMPv6, len(b), b)
}

func TestReadUnreached(t *testing.T) {
	seg := tcp("")[:8] // routers return eight bytes of it (RFC 792)
	for _, c := range []struct {
		name  string
		proto uint16
		b     []byte
		why   Why
		mtu   int
	}{
		{"fragmentation needed", EtherIPv4, error4(3, 4, 1280, v4(TCP, 1500, seg)), TooBig, 1280},
		{"port unreachable", EtherIPv4, error4(3, 3, 0, v4(TCP, 1500, seg)), NoPort, 0},
		{"host unreachable", EtherIPv4, error4(3, 1, 0, v4(TCP, 1500, seg)), NoRoute, 0},
		{"prohibited", EtherIPv4, error4(3, 13, 0, v4(TCP, 1500, seg)), Refused, 0},
		{"TTL", EtherIPv4, error4(11, 0, 0, v4(TCP, 1500, seg)), Expired, 0},
		{"packet too big", EtherIPv6, error6(2, 0, 1280, v6(TCP, 1460, seg)), TooBig, 1280},
		{"no port, IPv6", EtherIPv6, error6(1, 4, 0, v6(TCP, 1460, seg)), NoPort, 0},
	} {
		var ip IP
		var u Unreached
		if !ip.Decode(c.proto, c.b, 0) || !ReadUnreached(&ip, &u) {
			t.Errorf("%s: not read", c.name)
			continue
		}
		if u.Why != c.why || u.MTU != c.mtu || u.Proto != TCP || u.Size != 1500 || u.Src.Port() != 40112 || u.Dst.Port() != 1935 || u.Seq != 1000 {
			t.Errorf("%s: %+v", c.name, u)
		}
	}
	for name, b := range map[string][]byte{
		"a ping": error4(8, 0, 0, v4(TCP, 1500, seg)), "half of it": error4(3, 4, 1280, v4(TCP, 1500, nil)[:12]),
	} {
		var ip IP
		var u Unreached
		if ip.Decode(EtherIPv4, b, 0) && ReadUnreached(&ip, &u) {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

func TestPPPoE(t *testing.T) {
	seg := tcp("hello")
	body := v4(TCP, 20+len(seg), seg)
	b := append([]byte{0x11, 0, 0, 1, 0, byte(len(body) + 2), 0, 0x21}, body...)
	var p Packet
	if !Decode(EtherPPPoE, b, len(b), &p) || string(p.Payload) != "hello" || p.Size != len(body) || p.TTL != 64 || !p.DF {
		t.Errorf("%+v", p)
	}
	tagged := append([]byte{0, 7, 0x88, 0x64}, b...)
	if !Decode(EtherVLAN, tagged, len(tagged), &p) || p.Dst != netip.MustParseAddrPort("10.0.0.1:1935") {
		t.Errorf("%+v", p)
	}
	if b[1] = 9; Decode(EtherPPPoE, b, len(b), &p) {
		t.Error("a discovery packet is read")
	}
}

func TestWay(t *testing.T) {
	out := []byte{8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 0, 0, 0, 0, 0, 0, 0, 0}
	if LinkSLL2.Way(out) != Out || LinkSLL2.Index(out) != 3 || LinkSLL.Way([]byte{0, 0}) != In || LinkEthernet.Way(out) != Unknown {
		t.Error("the way is another")
	}
}

func FuzzReadOptions(f *testing.F) {
	f.Add([]byte{2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7}, uint16(EtherIPv4))
	f.Add(error4(3, 4, 1280, v4(TCP, 1500, tcp("")[:8])), uint16(EtherIPv4))
	f.Add(error6(2, 0, 1280, v6(TCP, 1460, tcp("")[:8])), uint16(EtherIPv6))
	f.Fuzz(func(t *testing.T, b []byte, proto uint16) {
		var o Options
		if ReadOptions(b, &o); o.SACKs > len(o.SACK) || o.Scale > 14 {
			t.Fatalf("%+v", o)
		}
		var ip IP
		if !ip.Decode(proto, b, len(b)) {
			return
		}
		if len(ip.Body) > len(b) || ip.Len < 0 || ip.Offset < 0 {
			t.Fatalf("%+v", ip)
		}
		var u Unreached
		ReadUnreached(&ip, &u)
	})
}

func BenchmarkDecode(b *testing.B) {
	seg := tcp("hello")
	raw := v4(TCP, 20+len(seg), seg)
	b.ReportAllocs()
	var p Packet
	for b.Loop() {
		if !Decode(EtherIPv4, raw, len(raw), &p) {
			b.Fatal("not read")
		}
	}
}
