package pcap

import (
	"net/netip"
	"testing"

	"snag/internal/packet"
)

// A client's first segment is looked at, and no other that begins alike: one in 256 of a
// file's segments does.
func TestGreets(t *testing.T) {
	client, server := netip.MustParseAddrPort("10.0.0.7:40112"), netip.MustParseAddrPort("10.0.0.1:9935")
	c1 := make([]byte, 64)
	c1[0], c1[1] = 3, 7
	digest := append([]byte{}, c1...)
	digest[5] = 9 // a version of Flash
	for _, c := range []struct {
		name     string
		syn      bool
		src, dst netip.AddrPort
		seq      uint32
		payload  []byte
		len      int
		want     bool
	}{
		{"the first of a client", true, client, server, 1001, digest, 1448, true},
		{"a later one", true, client, server, 5001, c1, 1448, false},
		{"of the server", true, server, client, 9001, c1, 1448, false},
		{"no handshake", false, client, server, 1001, c1, 1448, true},
		{"no handshake, nothing else like it", false, client, server, 1001, digest, 1448, false},
		{"no handshake, of the server", false, server, client, 1001, c1, 1448, false},
		{"another length", true, client, server, 1001, c1, 300, false},
		{"RTSP", false, client, server, 1001, []byte("OPTIONS rtsp://10.0.0.1/cam RTSP/1.0"), 36, true},
		{"HTTP", true, client, server, 1001, []byte("OPTIONS /cam HTTP/1.1\r\n"), 23, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMedia(&sink{}, 1)
			if c.syn {
				m.keep(1, 0x800, nil, 0, &packet.Packet{Src: client, Dst: server, Seq: 77, Flags: packet.SYN}) // of long ago
				m.keep(2, 0x800, nil, 0, &packet.Packet{Src: client, Dst: server, Seq: 1000, Flags: packet.SYN})
				m.keep(3, 0x800, nil, 0, &packet.Packet{Src: server, Dst: client, Seq: 9000, Flags: packet.SYN | packet.ACK})
			}
			m.tick = func() {}
			if got := m.greets(&packet.Packet{Src: c.src, Dst: c.dst, Seq: c.seq, Payload: c.payload, Len: c.len}); got != c.want {
				t.Errorf("greets: %t", got)
			}
		})
	}
}
