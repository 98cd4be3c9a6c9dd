package sides

import (
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

// captureHead is the header of a pcap file with nanoseconds and raw IP.
func captureHead() []byte {
	b := make([]byte, 24)
	le := binary.LittleEndian
	le.PutUint32(b, 0xa1b23c4d)
	le.PutUint16(b[4:], 2)
	le.PutUint16(b[6:], 4)
	le.PutUint32(b[16:], 262144)
	le.PutUint32(b[20:], 101)
	return b
}

// appendPacket appends a TCP segment of n payload bytes, of which data are the first.
func appendPacket(b []byte, at int64, src, dst netip.AddrPort, seq, ack uint32, flags uint8, syn bool, val, ecr uint32, n int, data []byte, snap int) []byte {
	be := binary.BigEndian
	opts := []byte{1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0}
	be.PutUint32(opts[4:], val)
	be.PutUint32(opts[8:], ecr)
	if syn {
		opts = append([]byte{2, 4, 0x05, 0xb4, 1, 3, 3, 7}, opts...)
	}
	p := make([]byte, 40+len(opts), 40+len(opts)+n)
	p[0], p[8], p[9] = 0x45, 64, 6
	be.PutUint16(p[2:], uint16(len(p)+n))
	s, d := src.Addr().As4(), dst.Addr().As4()
	copy(p[12:], s[:])
	copy(p[16:], d[:])
	be.PutUint16(p[20:], src.Port())
	be.PutUint16(p[22:], dst.Port())
	be.PutUint32(p[24:], seq)
	be.PutUint32(p[28:], ack)
	p[32], p[33] = byte((20+len(opts))/4)<<4, flags
	be.PutUint16(p[34:], 0xff00)
	copy(p[40:], opts)
	p = append(p, data[:min(n, len(data))]...)
	p = append(p, make([]byte, max(0, n-len(data)))...)
	kept := p
	if snap > 0 && snap < len(p) {
		kept = p[:snap]
	}
	h := make([]byte, 16)
	le := binary.LittleEndian
	le.PutUint32(h, uint32(at/1e9))
	le.PutUint32(h[4:], uint32(at%1e9))
	le.PutUint32(h[8:], uint32(len(kept)))
	le.PutUint32(h[12:], uint32(len(p)))
	return append(append(b, h...), kept...)
}

// written puts a capture into a file.
func written(t testing.TB, name string, packets []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, append(captureHead(), packets...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
