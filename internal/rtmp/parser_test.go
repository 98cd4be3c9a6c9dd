package rtmp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// got is a message with its head copied.
type got struct {
	Header
	head       string
	relative   bool
	cut        bool
	aggregated bool
}

// feed gives the parser b in pieces of the given size.
func feed(t *testing.T, p *Parser, b []byte, piece int) ([]got, error) {
	t.Helper()
	var out []got
	for len(b) > 0 {
		part := b[:min(piece, len(b))]
		b = b[len(part):]
		for {
			n, m, err := p.Next(part)
			if err != nil {
				return out, err
			}
			part = part[n:]
			if m == nil {
				if len(part) > 0 {
					t.Fatalf("Next left %d bytes without a message", len(part))
				}
				break
			}
			out = append(out, got{m.Header, string(m.Head), m.Relative, m.Cut, m.Aggregated})
		}
	}
	return out, nil
}

// chunked builds chunks by hand.
type chunked []byte

func (w chunked) bytes(b ...byte) chunked       { return append(w, b...) }
func (w chunked) u24(v uint32) chunked          { return append(w, byte(v>>16), byte(v>>8), byte(v)) }
func (w chunked) u32(v uint32) chunked          { return binary.BigEndian.AppendUint32(w, v) }
func (w chunked) payload(n int, c byte) chunked { return append(w, bytes.Repeat([]byte{c}, n)...) }

// full is a header of format 0.
func (w chunked) full(chunk byte, stamp uint32, length uint32, kind byte, stream byte) chunked {
	return w.bytes(chunk).u24(stamp).u24(length).bytes(kind, stream, 0, 0, 0)
}

func pay(n int, c byte) string { return string(bytes.Repeat([]byte{c}, n)) }

func TestChunkForms(t *testing.T) {
	const big = 0x01000000 // over 24 bits
	for _, c := range []struct {
		name string
		w    chunked
		want []got
	}{
		{"format 0", chunked{}.full(4, 1000, 3, TypeAudio, 1).payload(3, 'a'),
			[]got{{Header: Header{4, TypeAudio, 1, 3, 1000}, head: "aaa"}}},
		{"formats 1, 2 and 3 begin messages (5.3.2.1)",
			chunked{}.full(4, 1000, 3, TypeAudio, 1).payload(3, 'a').
				bytes(0x44).u24(20).u24(2).bytes(TypeVideo).payload(2, 'b').
				bytes(0x84).u24(30).payload(2, 'c').
				bytes(0xc4).payload(2, 'd'),
			[]got{{Header: Header{4, TypeAudio, 1, 3, 1000}, head: "aaa"},
				{Header: Header{4, TypeVideo, 1, 2, 1020}, head: "bb"},
				{Header: Header{4, TypeVideo, 1, 2, 1050}, head: "cc"},
				{Header: Header{4, TypeVideo, 1, 2, 1080}, head: "dd"}}},
		{"two-byte and three-byte basic headers",
			chunked{}.bytes(0x00, 6).u24(1).u24(1).bytes(TypeAudio, 1, 0, 0, 0).payload(1, 'a').
				bytes(0x01, 6, 1).u24(2).u24(1).bytes(TypeAudio, 1, 0, 0, 0).payload(1, 'b').
				bytes(0xc0, 6).payload(1, 'c').bytes(0xc1, 6, 1).payload(1, 'd'),
			[]got{{Header: Header{70, TypeAudio, 1, 1, 1}, head: "a"}, {Header: Header{326, TypeAudio, 1, 1, 2}, head: "b"},
				{Header: Header{70, TypeAudio, 1, 1, 2}, head: "c"}, {Header: Header{326, TypeAudio, 1, 1, 4}, head: "d"}}},
		{"a message of several chunks, others between them",
			chunked{}.full(6, 5, 300, TypeVideo, 1).payload(128, 'v').
				full(4, 7, 2, TypeAudio, 1).payload(2, 'a').
				bytes(0xc6).payload(128, 'v').bytes(0xc6).payload(44, 'v'),
			[]got{{Header: Header{4, TypeAudio, 1, 2, 7}, head: "aa"}, {Header: Header{6, TypeVideo, 1, 300, 5}, head: pay(64, 'v')}}},
		{"the chunk size changes in the middle of a message",
			chunked{}.full(6, 5, 300, TypeVideo, 1).payload(128, 'v').
				full(2, 0, 4, TypeSetChunkSize, 0).u32(1000).
				bytes(0xc6).payload(172, 'v').
				bytes(0x86).u24(40).payload(300, 'w'),
			[]got{{Header: Header{2, TypeSetChunkSize, 0, 4, 0}, head: "\x00\x00\x03\xe8"},
				{Header: Header{6, TypeVideo, 1, 300, 5}, head: pay(64, 'v')}, {Header: Header{6, TypeVideo, 1, 300, 45}, head: pay(64, 'w')}}},
		{"an extended timestamp, repeated in format 3",
			chunked{}.full(6, 0xffffff, 200, TypeVideo, 1).u32(big).payload(128, 'v').bytes(0xc6).u32(big).payload(72, 'v').
				bytes(0x86).u24(40).payload(128, 'w').bytes(0xc6).payload(72, 'w'),
			[]got{{Header: Header{6, TypeVideo, 1, 200, big}, head: pay(64, 'v')}, {Header: Header{6, TypeVideo, 1, 200, big + 40}, head: pay(64, 'w')}}},
		{"an extended timestamp, left out of format 3",
			chunked{}.full(6, 0xffffff, 200, TypeVideo, 1).u32(big).payload(128, 'v').bytes(0xc6).payload(72, 'v').
				full(6, 0xffffff, 130, TypeVideo, 1).u32(big+40).payload(128, 'w').bytes(0xc6).bytes(1, 0).
				full(4, 9, 1, TypeAudio, 1).payload(1, 'a'),
			[]got{{Header: Header{6, TypeVideo, 1, 200, big}, head: pay(64, 'v')},
				{Header: Header{6, TypeVideo, 1, 130, big + 40}, head: pay(64, 'w')}, {Header: Header{4, TypeAudio, 1, 1, 9}, head: "a"}}},
		{"left out, and the payload begins as the timestamp does",
			chunked{}.full(6, 0xffffff, 131, TypeVideo, 1).u32(big).payload(128, 'v').bytes(0xc6).bytes(1, 0, 9).
				full(4, 9, 1, TypeAudio, 1).payload(1, 'a'),
			[]got{{Header: Header{6, TypeVideo, 1, 131, big}, head: pay(64, 'v')}, {Header: Header{4, TypeAudio, 1, 1, 9}, head: "a"}}},
		{"a timestamp that wraps", chunked{}.full(4, 0xffffff, 1, TypeAudio, 1).u32(0xfffffff0).payload(1, 'a').
			bytes(0x84).u24(0x20).payload(1, 'b'),
			[]got{{Header: Header{4, TypeAudio, 1, 1, 0xfffffff0}, head: "a"}, {Header: Header{4, TypeAudio, 1, 1, 0x10}, head: "b"}}},
		{"format 3 after format 0: its timestamp is the delta", chunked{}.full(4, 21, 1, TypeAudio, 1).payload(1, 'a').bytes(0xc4).payload(1, 'b'),
			[]got{{Header: Header{4, TypeAudio, 1, 1, 21}, head: "a"}, {Header: Header{4, TypeAudio, 1, 1, 42}, head: "b"}}},
		{"format 3 after format 0 late in a stream: the same time", chunked{}.full(4, 3_600_000, 1, TypeAudio, 1).payload(1, 'a').bytes(0xc4).payload(1, 'b'),
			[]got{{Header: Header{4, TypeAudio, 1, 1, 3_600_000}, head: "a"}, {Header: Header{4, TypeAudio, 1, 1, 3_600_000}, head: "b"}}},
		{"a message without payload", chunked{}.full(4, 1, 0, TypeAudio, 1).full(4, 2, 1, TypeAudio, 1).payload(1, 'a'),
			[]got{{Header: Header{4, TypeAudio, 1, 0, 1}}, {Header: Header{4, TypeAudio, 1, 1, 2}, head: "a"}}},
		{"abort drops what came", chunked{}.full(6, 5, 300, TypeVideo, 1).payload(128, 'v').
			full(2, 0, 4, TypeAbort, 0).u32(6).full(6, 9, 1, TypeVideo, 1).payload(1, 'w'),
			[]got{{Header: Header{2, TypeAbort, 0, 4, 0}, head: "\x00\x00\x00\x06"}, {Header: Header{6, TypeVideo, 1, 1, 9}, head: "w"}}},
		{"a first chunk of format 1", chunked{}.bytes(0x44).u24(20).u24(1).bytes(TypeAudio).payload(1, 'a'),
			[]got{{Header: Header{4, TypeAudio, 0, 1, 20}, head: "a", relative: true}}},
	} {
		for _, piece := range []int{1, 2, 3, 7, 1 << 20} {
			p := NewParser()
			p.Strict = true
			have, err := feed(t, p, c.w, piece)
			if err != nil {
				t.Errorf("%s, in pieces of %d: %v at %d", c.name, piece, err, p.Offset())
			} else if !slices.Equal(have, c.want) {
				t.Errorf("%s, in pieces of %d:\n got %+v\nwant %+v", c.name, piece, have, c.want)
			}
			if err == nil && p.Offset() != uint64(len(c.w)) {
				t.Errorf("%s, in pieces of %d: offset %d of %d bytes", c.name, piece, p.Offset(), len(c.w))
			}
		}
	}
}

func TestHeadsAreBounded(t *testing.T) {
	w := chunked{}.full(2, 0, 4, TypeSetChunkSize, 0).u32(MaxChunkSize)
	w = w.full(6, 0, 6000, TypeVideo, 1).bytes(0x17, 0).payload(5998, 'c') // AVC sequence header
	w = w.full(6, 0, 6000, TypeVideo, 1).bytes(0x17, 1).payload(5998, 'k')
	w = w.full(4, 0, 600, TypeAudio, 1).bytes(0xaf, 0).payload(598, 'a')
	w = w.full(3, 0, 60000, TypeCommandAMF0, 0).payload(60000, 'm')
	w = w.full(3, 0, 0xffffff, TypeSharedObjectAMF0, 0).payload(0xffffff, 'm')
	have, err := feed(t, NewParser(), w, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var lengths []int
	for _, m := range have {
		lengths = append(lengths, len(m.head))
	}
	if want := []int{4, MaxConfig, Keep, 600, MaxCommand, 0}; !slices.Equal(lengths, want) {
		t.Errorf("heads of %v bytes, want %v", lengths, want)
	}
}

func TestAllChunkStreamsTogetherAreBounded(t *testing.T) {
	p := NewParser()
	var w chunked
	for id := range byte(60) {
		w = w.full(id+3, 0, 0xffffff, TypeCommandAMF0, 0).payload(128, 'm')
	}
	for range 300 {
		for id := range byte(60) {
			w = w.bytes(0xc0|(id+3)).payload(128, 'm')
		}
	}
	if _, err := feed(t, p, w, 4096); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for i := range p.streams {
		sum += cap(p.streams[i].head)
	}
	if sum > MaxKept || sum != p.kept {
		t.Errorf("%d bytes held (%d counted), want no more than %d", sum, p.kept, MaxKept)
	}
}

func TestImpossibleBytes(t *testing.T) {
	many := chunked{}
	for id := range byte(61) {
		many = many.full(id+3, 0, 1, TypeAudio, 1).payload(1, 'a')
	}
	for id := range byte(4) {
		many = many.bytes(0, id).u24(0).u24(1).bytes(TypeAudio, 1, 0, 0, 0).payload(1, 'a')
	}
	for _, c := range []struct {
		name   string
		w      chunked
		want   Impossible
		strict bool // else in both
	}{
		{"chunk size 0", chunked{}.full(2, 0, 4, TypeSetChunkSize, 0).u32(0), BadChunkSize, false},
		{"chunk size 2 GiB", chunked{}.full(2, 0, 4, TypeSetChunkSize, 0).u32(0x7fffffff), BadChunkSize, false},
		{"short set chunk size", chunked{}.full(2, 0, 3, TypeSetChunkSize, 0).payload(3, 0), BadControl, false},
		{"set chunk size of 16 MB", chunked{}.full(2, 0, 0xffffff, TypeSetChunkSize, 0).payload(128, 0), BadControl, false},
		{"format 3 first", chunked{}.bytes(0xc3).payload(3, 0), NoHeader, false},
		{"format 2 first", chunked{}.bytes(0x83).payload(3, 0), NoHeader, false},
		{"too many", many, TooManyStreams, false},
		{"unknown type", chunked{}.full(3, 0, 4, 99, 0).payload(4, 0), UnknownType, true},
		{"control on stream 1", chunked{}.full(2, 0, 4, TypeAck, 1).payload(4, 0), BadControlStream, true},
		{"a message in a message", chunked{}.full(6, 0, 300, TypeVideo, 1).payload(128, 0).full(6, 0, 3, TypeVideo, 1).payload(3, 0), Unfinished, true},
		{"an aggregate's part longer than it", chunked{}.full(6, 0, 20, TypeAggregate, 1).bytes(TypeVideo).u24(100).u32(0).u24(0).payload(9, 0), BadAggregate, true},
	} {
		for _, strict := range []bool{true, false} {
			p := NewParser()
			p.Strict = strict
			_, err := feed(t, p, c.w, 5)
			if c.strict && !strict {
				if err != nil {
					t.Errorf("%s, not strict: %v", c.name, err)
				}
				continue
			}
			var why Impossible
			if !errors.As(err, &why) || why != c.want {
				t.Errorf("%s, strict %v: %v, want %v", c.name, strict, err, c.want)
			}
			if _, _, again := p.Next([]byte{3}); !errors.Is(again, c.want) {
				t.Errorf("%s: afterwards %v", c.name, again)
			}
			p.Reset()
			if m, err := feed(t, p, chunked{}.full(4, 0, 1, TypeAudio, 1).payload(1, 'a'), 3); err != nil || len(m) != 1 {
				t.Errorf("%s: after Reset %v, %v", c.name, m, err)
			}
		}
	}
}

func TestAggregate(t *testing.T) {
	tag := func(w chunked, kind byte, stamp uint32, n int, c byte) chunked {
		return w.bytes(kind).u24(uint32(n)).u24(stamp&0xffffff).bytes(byte(stamp>>24)).u24(0).payload(n, c).u32(uint32(n + 11))
	}
	body := tag(tag(tag(nil, TypeVideo, 100, 200, 'v'), TypeAudio, 110, 0, 0), TypeAudio, 123, 5, 'a')
	w := chunked(AppendMessage(nil, Header{Chunk: 6, Type: TypeAggregate, Stream: 1, Timestamp: 5000}, 128, body)).
		full(4, 1, 1, TypeAudio, 1).payload(1, 'z')
	want := []got{
		{Header: Header{6, TypeVideo, 1, 200, 5000}, head: pay(64, 'v'), aggregated: true},
		{Header: Header{6, TypeAudio, 1, 0, 5010}, aggregated: true},
		{Header: Header{6, TypeAudio, 1, 5, 5023}, head: "aaaaa", aggregated: true},
		{Header: Header{4, TypeAudio, 1, 1, 1}, head: "z"},
	}
	for _, piece := range []int{1, 2, 9, 64, 4096} {
		p := NewParser()
		p.Strict = true
		have, err := feed(t, p, w, piece)
		if err != nil || !slices.Equal(have, want) {
			t.Errorf("in pieces of %d: %v\n got %+v\nwant %+v", piece, err, have, want)
		}
	}
}

// traffic is two chunk streams interleaved, with chunk boundaries told.
func traffic() (w chunked, bounds []int) {
	mark := func() { bounds = append(bounds, len(w)) }
	mark()
	w = w.full(2, 0, 4, TypeSetChunkSize, 0).u32(200)
	for i := range uint32(6) {
		mark()
		if i == 0 {
			w = w.full(6, 0xffffff, 500, TypeVideo, 1).u32(0x2000000)
		} else {
			w = w.bytes(0x86).u24(40)
		}
		w = w.payload(200, 'v')
		mark()
		w = w.full(4, i*23, 10, TypeAudio, 1).payload(10, 'a')
		for _, n := range []int{200, 100} {
			mark()
			if w = w.bytes(0xc6); i == 0 {
				w = w.u32(0x2000000)
			}
			w = w.payload(n, 'v')
		}
	}
	return w, bounds
}

func TestSeededParserGoesOnAtEachChunk(t *testing.T) {
	w, bounds := traffic()
	for _, at := range bounds {
		p, q := NewParser(), NewParser()
		before, err := feed(t, p, w[:at], 64)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.SetChunkSize(p.ChunkSize()); err != nil {
			t.Fatal(err)
		}
		for _, s := range p.States(nil) {
			if err := q.Seed(s); err != nil {
				t.Fatal(err)
			}
		}
		rest, err := feed(t, p, w[at:], 64)
		seeded, err2 := feed(t, q, w[at:], 64)
		if err != nil || err2 != nil || len(rest) != len(seeded) || len(before)+len(rest) != 13 {
			t.Fatalf("at %d: %d and %d messages, seeded %d: %v, %v", at, len(before), len(rest), len(seeded), err, err2)
		}
		for i := range rest {
			if rest[i].Header != seeded[i].Header || seeded[i].relative || !seeded[i].cut && rest[i].head != seeded[i].head {
				t.Errorf("at %d: %+v, seeded %+v", at, rest[i], seeded[i])
			}
		}
	}
	p := NewParser()
	if _, err := feed(t, p, w[:bounds[3]+3], 64); err != nil {
		t.Fatal(err)
	}
	if err := p.Seed(State{Header: Header{Chunk: 9}}); err == nil {
		t.Error("seeded in the middle of a chunk")
	}
}

func TestSkipPassesOverWhatACaptureCutOff(t *testing.T) {
	w, _ := traffic()
	want, err := feed(t, NewParser(), w, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []int{0, 1, 5, 64, 70} { // bytes of each payload that were captured
		p := NewParser()
		var have []Header
		b, seen := []byte(w), 0
		take := func(n int, m *Message) {
			if b, seen = b[n:], seen+n; m != nil {
				have = append(have, m.Header)
				if m.Type == TypeVideo && m.Length > 0 && m.Cut != (from < Keep) {
					t.Errorf("%d captured: cut %v", from, m.Cut)
				}
			}
		}
		for len(b) > 0 {
			left := p.Left()
			if p.cur < len(p.streams) && p.streams[p.cur].Type == TypeVideo && left > 0 && seen >= from {
				take(p.Skip(1 << 20))
				continue
			}
			n, m, err := p.Next(b[:1])
			if err != nil {
				t.Fatal(err)
			}
			take(n, m)
			if p.Left() == 0 || left == 0 {
				seen = 0
			}
		}
		if len(have) != len(want) || p.Offset() != uint64(len(w)) {
			t.Fatalf("%d captured: %d messages of %d, offset %d of %d", from, len(have), len(want), p.Offset(), len(w))
		}
		for i := range have {
			if have[i] != want[i].Header {
				t.Errorf("%d captured: message %d is %+v, want %+v", from, i, have[i], want[i].Header)
			}
		}
	}
}

func TestAnyBytes(t *testing.T) {
	// a deterministic walk over broken headers: no panic, no endless loop
	x := uint32(1)
	for range 2000 {
		b := make([]byte, 200)
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = byte(x >> 24)
		}
		if have, _ := feed(t, NewParser(), b, 13); len(have) > len(b) {
			t.Fatal("more messages than bytes")
		}
	}
}

func ExampleParser() {
	p := NewParser()
	b := AppendMessage(nil, Header{Chunk: 4, Type: TypeAudio, Stream: 1, Timestamp: 40}, FirstChunkSize, []byte("\xaf\x01 and sound"))
	for len(b) > 0 {
		n, m, err := p.Next(b)
		if err != nil {
			fmt.Println(err)
			return
		}
		if b = b[n:]; m != nil {
			fmt.Println(m.Type, m.Timestamp, m.Length, len(m.Head))
		}
	}
	// Output: 8 40 12 12
}
