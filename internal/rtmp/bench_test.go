package rtmp

import "testing"

// second is a second of 720p at 2.5 Mb/s: 30 pictures and 43 AAC frames, in
// chunks of 4096 bytes as nginx-rtmp sends them.
func second() []byte {
	var b []byte
	picture := make([]byte, 10_000)
	picture[0], picture[1] = 0x27, 1
	sound := make([]byte, 350)
	sound[0], sound[1] = 0xaf, 1
	for i := range 30 {
		b = AppendMessage(b, Header{Chunk: 6, Type: TypeVideo, Stream: 1, Timestamp: uint32(i * 33)}, 4096, picture)
		b = AppendMessage(b, Header{Chunk: 4, Type: TypeAudio, Stream: 1, Timestamp: uint32(i * 33)}, 4096, sound)
		if i%2 == 0 {
			b = AppendMessage(b, Header{Chunk: 4, Type: TypeAudio, Stream: 1, Timestamp: uint32(i*33 + 20)}, 4096, sound)
		}
	}
	return b
}

func BenchmarkParser(b *testing.B) {
	wire := second()
	p := NewParser()
	if err := p.SetChunkSize(4096); err != nil {
		b.Fatal(err)
	}
	messages := 0
	b.ReportAllocs()
	for messages < b.N {
		for at := 0; at < len(wire); {
			n, m, err := p.Next(wire[at:min(len(wire), at+12500)])
			if err != nil {
				b.Fatal(err)
			}
			if at += n; m != nil {
				messages++
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
}

func TestParserDoesNotAllocate(t *testing.T) {
	wire := second()
	p := NewParser()
	run := func() {
		p.Reset()
		if err := p.SetChunkSize(4096); err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(wire); {
			n, _, err := p.Next(wire[at:min(len(wire), at+1000)])
			if err != nil {
				t.Fatal(err)
			}
			at += n
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n > 0 {
		t.Errorf("%v allocations in a second of stream", n)
	}
}
