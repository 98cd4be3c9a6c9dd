package interleaved

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

type tape struct{ got []string }

func (t *tape) Packet(_ int64, channel uint8, b []byte) {
	t.got = append(t.got, fmt.Sprintf("%d %x %d", channel, b[:min(len(b), 4)], len(b)))
}

func (t *tape) Text(_ int64, m Message) {
	t.got = append(t.got, fmt.Sprint(m.First, "|", m.Get("cseq"), "|", string(m.Body)))
}

// stream is a session: an answer, then packets with an answer among them.
func stream(r *rand.Rand, packets int) (b []byte, want []string, ends []int) {
	var t tape
	text := func(first, body string) {
		m := fmt.Sprintf("%s\r\nCSeq: %d\r\nContent-Length: %d\r\n\r\n%s", first, len(want), len(body), body)
		b = append(b, m...)
		want = append(want, fmt.Sprint(first, "|", len(want), "|", body))
		ends = append(ends, len(b))
	}
	text("RTSP/1.0 200 OK", "v=0\r\n")
	for i := range packets {
		p := make([]byte, 12+r.IntN(1400))
		for j := range p {
			p[j] = byte(r.Uint32())
		}
		p[0], p[2], p[3] = 0x80, byte(i>>8), byte(i)
		ch := byte(2 * r.IntN(2))
		b = append(b, '$', ch, byte(len(p)>>8), byte(len(p)))
		b = append(b, p...)
		t.Packet(0, ch, p)
		want = append(want, t.got[len(t.got)-1])
		ends = append(ends, len(b))
		if i%40 == 20 {
			text("OPTIONS rtsp://x/cam RTSP/1.0", "")
		}
	}
	return b, want, ends
}

func feed(f *Framer, r *rand.Rand, b []byte) {
	for len(b) > 0 {
		n := min(1+r.IntN(3000), len(b))
		f.Data(0, b[:n])
		b = b[n:]
	}
}

func TestFromTheStart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	b, want, _ := stream(r, 300)
	var got tape
	feed(New(true, &got), r, b)
	if !slices.Equal(got.got, want) {
		t.Fatalf("got %d of %d", len(got.got), len(want))
	}
}

// From any byte on, all packets but the first few are found.
func TestFromAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	b, want, ends := stream(r, 300)
	for range 200 {
		from := r.IntN(len(b) / 2)
		var got tape
		f := New(false, &got)
		feed(f, r, b[from:])
		first, _ := slices.BinarySearch(ends, from)
		if !f.Synced() || len(got.got) == 0 || len(got.got) < len(want)-first-8 ||
			!slices.Equal(got.got, want[len(want)-len(got.got):]) {
			t.Fatalf("from %d: got %d of %d", from, len(got.got), len(want)-first)
		}
	}
}

// A hole costs the packets that it touches, and those until the next are found.
func TestHoles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	b, want, _ := stream(r, 600)
	var got tape
	f := New(true, &got)
	holes := 0
	for len(b) > 0 {
		n := min(20000+r.IntN(20000), len(b))
		feed(f, r, b[:n])
		b = b[n:]
		n = min(1+r.IntN(3000), len(b))
		f.Hole(int64(n))
		b = b[n:]
		holes++
	}
	known := map[string]bool{}
	for _, w := range want {
		known[w] = true
	}
	for _, g := range got.got {
		if !known[g] {
			t.Fatalf("made up: %q", g)
		}
	}
	if len(got.got) < len(want)-10*holes {
		t.Errorf("got %d of %d with %d holes", len(got.got), len(want), holes)
	}
}

func TestHostile(t *testing.T) {
	for _, s := range []string{
		"RTSP/1.0 200 OK\r\nContent-Length: 99999999\r\n\r\n",
		"RTSP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n",
		"OPTIONS " + strings.Repeat("x", 1<<20),
		"\x00\x01\x02",
	} {
		var got tape
		f := New(true, &got)
		feed(f, rand.New(rand.NewPCG(4, 4)), []byte(s))
		if len(got.got) > 0 || f.Synced() || len(f.held) > maxHeld {
			t.Errorf("%.20q: got %v, synced %v, %d bytes held", s, got.got, f.Synced(), len(f.held))
		}
	}
}

func FuzzFramer(f *testing.F) {
	b, _, _ := stream(rand.New(rand.NewPCG(5, 5)), 5)
	f.Add(b, uint16(10), uint16(3), true)
	f.Add(b[50:], uint16(100), uint16(0), false)
	f.Fuzz(func(t *testing.T, b []byte, cut, hole uint16, start bool) {
		var got tape
		fr := New(start, &got)
		for range 3 {
			n := min(int(cut), len(b))
			fr.Data(0, b[:n])
			if hole > 0 {
				fr.Hole(int64(hole) - 1)
			}
			fr.Data(0, b[n:])
		}
		if len(fr.held) > maxHeld {
			t.Fatalf("%d bytes held", len(fr.held))
		}
	})
}
