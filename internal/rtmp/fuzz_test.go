package rtmp

import (
	"errors"
	"slices"
	"testing"
)

// However the bytes are split, the messages are the same; nothing is held beyond
// the bound.
func FuzzParser(f *testing.F) {
	w, _ := traffic()
	f.Add([]byte(w), uint8(3), true)
	f.Add([]byte(chunked{}.full(2, 0, 4, TypeSetChunkSize, 0).u32(0x7fffffff)), uint8(1), false)
	f.Add([]byte(chunked{}.full(6, 0xffffff, 131, TypeVideo, 1).u32(1<<24).payload(128, 'v').bytes(0xc6, 1, 0, 9)), uint8(1), true)
	f.Add([]byte(chunked{}.full(6, 0, 40, TypeAggregate, 1).bytes(TypeVideo).u24(3).u32(0).u24(0).payload(26, 1)), uint8(2), false)
	f.Fuzz(func(t *testing.T, b []byte, piece uint8, strict bool) {
		p, q := NewParser(), NewParser()
		p.Strict, q.Strict = strict, strict
		whole, err := feed(t, p, b, len(b)+1)
		split, err2 := feed(t, q, b, int(piece)+1)
		if !errors.Is(err, err2) || !slices.Equal(whole, split) {
			t.Fatalf("at once %v %+v\nsplit %v %+v", err, whole, err2, split)
		}
		sum := 0
		for i := range q.streams {
			sum += cap(q.streams[i].head)
		}
		if len(whole) > len(b) || sum > MaxKept || len(q.streams) > MaxChunkStreams {
			t.Fatalf("%d messages, %d bytes held, %d chunk streams", len(whole), sum, len(q.streams))
		}
	})
}
