package sides

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"snag/internal/packet"
)

// TestWriteFiles puts the simulated captures where SIDES_FILES says, for a look by hand.
func TestWriteFiles(t *testing.T) {
	dir := os.Getenv("SIDES_FILES")
	if dir == "" {
		t.Skip("SIDES_FILES=DIR is not set")
	}
	small(t, dir)
	for i, b := range append(slices.Clone(beds), healthy) {
		_, files := b.simulate(t, uint64(i+1))
		for k, f := range files {
			raw, err := os.ReadFile(f)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, string(rune('a'+i))+string(rune('0'+k))+".pcap"), raw, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// healthy is a path as many have it, on which nothing stalls.
var healthy = bed{name: "healthy", conns: 40, healthy: true, http: true, offload: true, net: [2]network{{delay: 8e6, jitter: 2e6}, {delay: 8e6, jitter: 2e6, loss: 0.0005}}}

// small writes what readers/testdata/both-ends holds: nine quick requests, and one that
// lies unread at the server for 3.9 of its 4 s. The server's clock is an hour ahead.
func small(t *testing.T, dir string) {
	w := opened()
	trace := fmt.Sprintf("812 %.6f accept4(3, {sa_family=AF_INET, sin_port=htons(33000), sin_addr=inet_addr(\"10.0.0.1\")}, [16], SOCK_CLOEXEC) = 7 <0.000020>\n", float64(simEpoch)/1e9+3600)
	line := func(ms float64, call string, n int) {
		trace += fmt.Sprintf("812 %.6f %s(7, \"...\", %d) = %d <0.000020>\n", float64(simEpoch)/1e9+3600+ms/1e3, call, n, n)
	}
	for k := range 10 {
		name, unread := "GET /quick HTTP/1.1\r\n\r\n", 0.5
		if k == 6 {
			name, unread = "GET /a HTTP/1.1\r\n\r\n", 3900
		}
		w.request(name)
		line(w.now+unread, "read", len(name))
		w.now += unread + 100
		line(w.now-0.05, "write", 40)
		w.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		w.now += 200
	}
	w.pass(request, 0, "", packet.FIN|packet.ACK)
	for name, raw := range map[string][]byte{"client.pcap": append(captureHead(), w.taken[0]...), "server.pcap": append(captureHead(), hourAhead(w.taken[1])...), "server.strace": []byte(trace)} {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// hourAhead moves the times of packets.
func hourAhead(packets []byte) []byte {
	for b := packets; len(b) > 16; b = b[16+int(binary.LittleEndian.Uint32(b[8:])):] {
		binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)+3600)
	}
	return packets
}
