package forwards

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/mdlayher/netlink"
)

// entry is what ctnetlink answers of a connection.
func entry(t *testing.T, status uint32, proto uint8, from, to, replyFrom, replyTo string) []byte {
	t.Helper()
	ae := netlink.NewAttributeEncoder()
	ae.ByteOrder = binary.BigEndian
	side := func(src, dst string) func(*netlink.AttributeEncoder) error {
		s, d := netip.MustParseAddrPort(src), netip.MustParseAddrPort(dst)
		return func(ae *netlink.AttributeEncoder) error {
			ae.Nested(ctaIP, func(ae *netlink.AttributeEncoder) error {
				a, b := uint16(ctaV4Src), uint16(ctaV4Dst)
				if s.Addr().Is6() {
					a, b = ctaV6Src, ctaV6Dst
				}
				ae.Bytes(a, s.Addr().AsSlice())
				ae.Bytes(b, d.Addr().AsSlice())
				return nil
			})
			ae.Nested(ctaProto, func(ae *netlink.AttributeEncoder) error {
				ae.Uint8(ctaProtoNum, proto)
				ae.Uint16(ctaSrcPort, s.Port())
				ae.Uint16(ctaDstPort, d.Port())
				return nil
			})
			return nil
		}
	}
	ae.Nested(ctaOrig, side(from, to))
	ae.Nested(ctaReply, side(replyFrom, replyTo))
	ae.Uint32(ctaStatus, status)
	b, err := ae.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(make([]byte, 4), b...)
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name                         string
		status                       uint32
		proto                        uint8
		from, to, replyFrom, replyTo string
		want                         string
	}{
		{"a service address", 1<<5 | 8, 6, "10.0.1.1:40000", "10.96.0.10:80", "10.0.0.3:8080", "10.0.1.1:40000", "10.96.0.10:80 10.0.0.3:8080"},
		{"the source is rewritten too", 1<<5 | 1<<4, 6, "10.0.1.1:40000", "10.96.0.10:80", "10.0.0.3:8080", "10.0.0.1:1024", "10.96.0.10:80 10.0.0.3:8080"},
		{"IPv6", 1 << 5, 17, "[fd00::1]:40000", "[fd00::a]:53", "[fd00::3]:5353", "[fd00::1]:40000", "[fd00::a]:53 [fd00::3]:5353"},
		{"the source alone is rewritten", 1 << 4, 6, "10.0.1.1:40000", "10.0.0.3:8080", "10.0.0.3:8080", "10.0.0.1:1024", ""},
		{"ICMP", 1 << 5, 1, "10.0.1.1:0", "10.96.0.10:0", "10.0.0.3:0", "10.0.1.1:0", ""},
	} {
		f, ok := decode(entry(t, c.status, c.proto, c.from, c.to, c.replyFrom, c.replyTo))
		got := ""
		if ok {
			got = f.From.String() + " " + f.To.String()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Bytes that are cut or changed are no entry, and nothing panics.
func TestTornEntries(t *testing.T) {
	whole := entry(t, 1<<5, 6, "10.0.1.1:40000", "10.96.0.10:80", "10.0.0.3:8080", "10.0.1.1:40000")
	for i := range whole {
		if f, ok := decode(whole[:i]); ok && i < len(whole)-8 {
			t.Errorf("of the first %d bytes: %+v", i, f)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		b := append([]byte{}, whole...)
		for range 1 + r.IntN(4) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		decode(b)
	}
}

func TestBalanced(t *testing.T) {
	found := map[Forward]int{}
	balanced(`IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port Forward Weight ActiveConn InActConn
TCP  0A600001:01BB rr 
  -> 0A000307:1F90      Masq    1      3          1         
  -> 0A000308:1F90      Masq    1      0          1         
FWM  00000001 wlc 
  -> 0A000309:0000      Route   1      9          1         
UDP  [2001:0db8:0000:0000:0000:0000:0000:0001]:0035 rr 
  -> [2001:0db8:0000:0000:0000:0000:0000:0002]:0035      Masq    1      2          0         
  -> nonsense
`, found)
	got := kept(found)
	want := []string{"10.96.0.1:443 10.0.3.7:8080 3", "[2001:db8::1]:53 [2001:db8::2]:53 2", "10.96.0.1:443 10.0.3.8:8080 0"}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i, f := range got {
		if text := f.From.String() + " " + f.To.String() + " " + string(rune('0'+f.Connections)); text != want[i] {
			t.Errorf("%q, want %q", text, want[i])
		}
	}
}
