package sides

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// FuzzJoin holds two files of any bytes against each other: it neither fails nor
// gives figures that can't be.
func FuzzJoin(f *testing.F) {
	w := opened()
	w.request("GET / HTTP/1.1\r\n\r\n")
	w.now += 5
	w.answer("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
	w.now += 300
	w.answer("rest")
	f.Add(w.taken[0], w.taken[1])
	f.Add(w.taken[0], w.taken[1][60:])
	f.Add([]byte{}, w.taken[0])
	f.Fuzz(hold)
}

// hold joins two captures of any packets and looks at what comes out.
func hold(t *testing.T, a, b []byte) {
	var files [2]opener
	for i, packets := range [][]byte{a, b} {
		files[i] = func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(captureHead()), bytes.NewReader(packets))), nil
		}
	}
	var got rows
	res, err := join(context.Background(), files, [2]string{"a", "b"}, nil, &got)
	if err != nil {
		t.Fatal(err)
	}
	told([2]string{"a", "b"}, res)
	var all []*Capture // the first one twice: as if somebody gave a copy
	for i, file := range []opener{files[0], files[1], files[0]} {
		c, err := surveyed(context.Background(), file, string(rune('a'+i)), 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	path, joined := NewPath(all), 0
	for _, p := range path.Pairs {
		if c := p.Clock(); math.IsNaN(c.Ahead) || c.Known && !(c.Worst >= 0) {
			t.Fatalf("%+v", c)
		}
	}
	for _, h := range path.Hops() {
		joined += h.Connections()
		if len(h.Between) > 1 || h.Text() == "" {
			t.Fatalf("%d captures between three", len(h.Between))
		}
		for _, mid := range h.Between {
			if mid.Connections() > h.Connections() {
				t.Fatalf("%d connections between, of %d", mid.Connections(), h.Connections())
			}
		}
	}
	if most := len(all[0].index.flows) + len(all[1].index.flows) + len(all[2].index.flows); joined > most {
		t.Fatalf("%d connections are joined, of %d that there are", joined, most)
	}
	for _, r := range got.Requests {
		for _, v := range []float64{r.Wait, r.AtServer, r.Network, r.Upload, r.Download, r.Stood, r.Paused, r.Bound} {
			if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%+v", r)
			}
		}
		if r.AtServer > r.Wait || r.Out != nil && (*r.Out < 0 || *r.Back < 0) {
			t.Fatalf("%+v", r)
		}
	}
}

// TestChangedPackets changes bytes of captures that can be joined, leaves packets out
// and puts them elsewhere: more of these come far than of random bytes.
func TestChangedPackets(t *testing.T) {
	times, _ := strconv.Atoi(os.Getenv("SIDES_CHANGES"))
	rnd := rand.New(rand.NewPCG(5, uint64(times)))
	_, files := bed{conns: 3, net: [2]network{{delay: 1e6, jitter: 1e6, loss: 0.02, reorder: 0.1}, {delay: 2e6}}, offload: true, http: true}.simulate(t, 99)
	var whole [2][][]byte
	for i, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for b := raw[24:]; len(b) > 16; {
			n := 16 + int(binary.LittleEndian.Uint32(b[8:]))
			whole[i] = append(whole[i], b[:n])
			b = b[n:]
		}
	}
	for range max(times, 60) {
		var changed [2][]byte
		for i, packets := range whole {
			from := rnd.IntN(len(packets))
			packets = slices.Clone(packets[from:min(len(packets), from+300)])
			for range rnd.IntN(12) {
				at, to := rnd.IntN(len(packets)), rnd.IntN(len(packets))
				switch rnd.IntN(3) {
				case 0:
					packets[at], packets[to] = packets[to], packets[at]
				case 1:
					packets[at] = packets[to]
				default:
					p := slices.Clone(packets[at])
					p[16+rnd.IntN(min(60, len(p)-16))] ^= byte(1 << rnd.IntN(8))
					packets[at] = p
				}
			}
			changed[i] = bytes.Join(packets, nil)
		}
		hold(t, changed[0], changed[1])
	}
}
