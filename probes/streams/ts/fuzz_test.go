package ts

import (
	"testing"

	"snag/probes/streams/stream"
)

func FuzzDemuxer(f *testing.F) {
	for _, name := range []string{"h264-aac.ts", "hevc-opus.ts", "mpeg2-mp2.ts", "h264-ac3.m2ts", "latm.ts"} {
		b := file(f, name)
		f.Add(b[:min(len(b), 4*Size)], uint16(188))
		f.Add(b[:min(len(b), 4096)], uint16(7))
	}
	f.Fuzz(func(t *testing.T, b []byte, piece uint16) {
		var k kept
		d := New(&k)
		d.Live = true
		for at, rest := int64(1), b; len(rest) > 0; at++ {
			n := min(len(rest), int(piece)+1)
			d.Feed(rest[:n], at*1e6)
			rest = rest[n:]
		}
		d.Segment()
		size := 0
		for _, f := range k.frames {
			if f.Size < 0 {
				t.Fatalf("%+v", f)
			}
			if f.Kind == stream.Video {
				size += f.Size
			}
		}
		if size > len(b) {
			t.Fatalf("pictures of %d bytes in %d", size, len(b))
		}
		if waste, _ := d.Wasted(); waste > uint64(len(b)) {
			t.Fatalf("%d bytes wasted of %d", waste, len(b))
		}
	})
}

type nothing struct{}

func (nothing) Published(int64, string, string) {}
func (nothing) Frame(stream.Frame)              {}
func (nothing) Params(stream.Params)            {}
func (nothing) Count(stream.Count, uint64)      {}
func (nothing) Gauge(stream.Gauge, float64)     {}

// BenchmarkPacket is one transport packet: 2.5 Mbit/s are 1660 per second.
func BenchmarkPacket(b *testing.B) {
	all := packetsOf(b, "h264-aac.ts")
	d := New(nothing{})
	b.ReportAllocs()
	b.SetBytes(Size)
	for i := 0; b.Loop(); i++ {
		d.Datagram(all[i%len(all)], int64(i))
	}
}
