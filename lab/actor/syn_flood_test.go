package actor

import (
	"net/netip"
	"testing"
)

// The sum over a packet with its checksum in it is all ones (RFC 1071).
func TestSynPacketSums(t *testing.T) {
	from := netip.MustParseAddr("198.18.3.4")
	b := synPacket(from, 1234, netip.MustParseAddrPort("10.0.0.1:80"), 0xfeedbeef)
	if got := checksum(b[:20], 0); got != 0 {
		t.Errorf("the IP header sums to %#x", got)
	}
	if got := checksum(b[20:], sum(b[12:20], 0)+6+24); got != 0 {
		t.Errorf("the TCP header sums to %#x", got)
	}
	if b[33] != 2 || b[22] != 0 || b[23] != 80 {
		t.Errorf("not a SYN to port 80: %x", b[20:])
	}
}

func TestForgedAddressesAreOfTheNetwork(t *testing.T) {
	network := netip.MustParsePrefix("198.18.0.1/24")
	seen := map[netip.Addr]bool{}
	for n := range uint32(1000) {
		a := forged(network, n)
		if !network.Masked().Contains(a) || a == network.Addr() {
			t.Fatalf("%v", a)
		}
		seen[a] = true
	}
	if len(seen) != 253 {
		t.Errorf("%d addresses", len(seen))
	}
}
