package codec

import (
	"bytes"
	"fmt"
	"testing"
)

// units are NAL units that try the walkers: zeros within, one byte, one longer
// than what is kept of a head.
func units() [][]byte {
	long := bytes.Repeat([]byte{0x41, 0, 0, 3, 7}, 300)
	return [][]byte{{9, 0xf0}, {0x67, 0, 0, 3, 1, 0, 2}, {0x68}, long, {0x41, 0x80, 0, 5}}
}

type found struct {
	heads  []string
	sizes  []int
	begins []int
}

func (f *found) take(head []byte, size int) {
	f.heads = append(f.heads, string(head))
	f.sizes = append(f.sizes, size)
}

func (f *found) check(t *testing.T, want [][]byte) {
	t.Helper()
	if len(f.sizes) != len(want) {
		t.Fatalf("%d units, want %d", len(f.sizes), len(want))
	}
	for i, u := range want {
		if f.sizes[i] != len(u) || f.heads[i] != string(u[:min(len(u), HeadBytes)]) {
			t.Errorf("unit %d: %d bytes, head %x", i, f.sizes[i], f.heads[i])
		}
	}
}

func TestAnnexBInAnyPieces(t *testing.T) {
	stream := []byte{0x55} // before the first start code
	var begins []int
	for i, u := range units() {
		begins = append(begins, len(stream))
		stream = append(append(stream, make([]byte, 2+i%3)...), 1)
		stream = append(stream, u...)
	}
	for _, piece := range []int{1, 2, 3, 5, 7, 184, 4096} {
		t.Run(fmt.Sprint(piece), func(t *testing.T) {
			var w AnnexB
			var f found
			take := func(head []byte, size int) {
				f.take(head, size)
				f.begins = append(f.begins, w.Begin())
			}
			for rest := stream; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
				w.Feed(rest[:min(piece, len(rest))], take)
			}
			w.End(take)
			f.check(t, units())
			if fmt.Sprint(f.begins) != fmt.Sprint(begins) || w.Taken() != len(stream) {
				t.Errorf("units begin at %v of %d, want %v of %d", f.begins, w.Taken(), begins, len(stream))
			}
		})
	}
}

func TestLengthsInAnyPieces(t *testing.T) {
	for size := 2; size <= 4; size++ {
		var stream []byte
		for _, u := range units() {
			n := []byte{0, 0, byte(len(u) >> 8), byte(len(u))}
			stream = append(append(stream, n[4-size:]...), u...)
		}
		for _, piece := range []int{1, 3, 4, 128, 4096} {
			w := Lengths{Size: size}
			var f found
			for rest := stream; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
				w.Feed(rest[:min(piece, len(rest))], f.take)
			}
			f.check(t, units())
		}
		var f found
		for rest := stream; ; {
			nal, next, whole := NextNAL(rest, size)
			if nal == nil {
				break
			}
			if !whole {
				t.Error("a whole unit was called cut short")
			}
			f.take(nal[:min(len(nal), HeadBytes)], len(nal))
			rest = next
		}
		f.check(t, units())
	}
}

func FuzzHeads(f *testing.F) {
	for _, h := range []string{sps640x360p25, sps1080p2997, sps576i25, spsHEVC180p50, hvcC180p50, av1Unit322x182, vp9Frame320x180, aacLC48k51, aacHE44kImplicit, "fff1508003dffc", "fffb5000", "0b775052144043e106"} {
		f.Add(unhex(f, h))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, read := range []func([]byte) (w, h int){
			func(b []byte) (int, int) { p, _ := H264SPS(b); return p.Width, p.Height },
			func(b []byte) (int, int) { p, _ := HEVCSPS(b); return p.Width, p.Height },
			func(b []byte) (int, int) { p, _, _ := AVCC(b); return p.Width, p.Height },
			func(b []byte) (int, int) { p, _, _ := HVCC(b); return p.Width, p.Height },
			func(b []byte) (int, int) { p, _ := AV1SequenceHeader(b); return p.Width, p.Height },
			func(b []byte) (int, int) { p := AV1Picture(b).Params; return p.Width, p.Height },
			func(b []byte) (int, int) { p := VP9Picture(b).Params; return p.Width, p.Height },
		} {
			if w, h := read(b); w < 0 || h < 0 || w > maxSide || h > maxSide {
				t.Fatalf("a picture of %d×%d", w, h)
			}
		}
		for _, c := range []string{H264, HEVC} {
			LengthPicture(c, b, 4)
			AnnexBPicture(c, b)
			NAL(c, b)
		}
		if a, err := AACConfig(b); err == nil && (a.SampleRate <= 0 || a.Samples < 0) {
			t.Fatalf("%+v", a)
		}
		if h, err := ADTS(b); err == nil && h.Size < 7 {
			t.Fatalf("%+v", h)
		}
		if h, err := MPEGAudio(b); err == nil && h.Size < 4 {
			t.Fatalf("%+v", h)
		}
		_, _ = DolbyAudio(b)
		_, _ = OpusHead(b)
		OpusSamples(b)
		// Any cut gives the same units.
		var whole, cut found
		var w, v AnnexB
		w.Feed(b, whole.take)
		w.End(whole.take)
		for i := range b {
			v.Feed(b[i:i+1], cut.take)
		}
		v.End(cut.take)
		if fmt.Sprint(whole) != fmt.Sprint(cut) {
			t.Fatalf("by bytes %v, at once %v", cut.sizes, whole.sizes)
		}
	})
}
