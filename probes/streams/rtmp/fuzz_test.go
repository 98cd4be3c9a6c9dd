package rtmp

import (
	"errors"
	"net/url"
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

// Whatever a server sends after the handshake, a session ends or goes on, and
// neither its answers nor its frames outgrow what came.
func FuzzSession(f *testing.F) {
	f.Add((&server{}).letIn().media(TypeVideo, 0, "\x17\x01\x00\x00\x00kk").event(EventStreamEOF, 1).b)
	f.Add((&server{}).letIn().media(TypeDataAMF0, 0, "\x02\x00\x0aonMetaData\x08\x00\x00\x00\x00\x00\x05width\x00\x40\x84\x00\x00\x00\x00\x00\x00\x00\x00\x09").b)
	f.Add((&server{}).number(TypePeerBandwidth, 1).event(EventPingRequest, 1).status("error", "NetStream.Play.Failed", "x").b)
	f.Fuzz(func(t *testing.T, b []byte) {
		u, err := url.Parse("rtmp://h/live/cam1?token=abcdef")
		if err != nil {
			t.Fatal(err)
		}
		to, err := parse(u)
		if err != nil {
			t.Fatal(err)
		}
		sink := &seen{}
		s := newSession(to, sink)
		s.out = nil
		err = s.feed(b, 1)
		if len(s.out) > 1000+8*len(b) || len(sink.frames) > len(b) || sink.published > 1 {
			t.Fatalf("%d bytes out, %d frames, published %d times of %d bytes", len(s.out), len(sink.frames), sink.published, len(b))
		}
		if len(sink.frames) > 0 && sink.published == 0 {
			t.Fatal("frames of a stream that was not published")
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Fatalf("an error of %d bytes", len(err.Error()))
		}
	})
}
