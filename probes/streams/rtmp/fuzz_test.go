package rtmp

import (
	"net/url"
	"testing"

	"snag/internal/rtmp"
)

// Whatever a server sends after the handshake, a session ends or goes on, and
// neither its answers nor its frames outgrow what came.
func FuzzSession(f *testing.F) {
	f.Add((&server{}).letIn().media(rtmp.TypeVideo, 0, "\x17\x01\x00\x00\x00kk").event(rtmp.EventStreamEOF, 1).b)
	f.Add((&server{}).letIn().media(rtmp.TypeDataAMF0, 0, "\x02\x00\x0aonMetaData\x08\x00\x00\x00\x00\x00\x05width\x00\x40\x84\x00\x00\x00\x00\x00\x00\x00\x00\x09").b)
	f.Add((&server{}).number(rtmp.TypePeerBandwidth, 1).event(rtmp.EventPingRequest, 1).status("error", "NetStream.Play.Failed", "x").b)
	f.Fuzz(func(t *testing.T, b []byte) {
		u, err := url.Parse("rtmp://h/live/cam1?token=abcdef")
		if err != nil {
			t.Fatal(err)
		}
		to, err := rtmp.ParseTarget(u)
		if err != nil {
			t.Fatal(err)
		}
		sink := &seen{}
		s := newSession(to, sink)
		s.Out = nil
		err = s.feed(b, 1)
		if len(s.Out) > 1000+8*len(b) || len(sink.frames) > len(b) || sink.published > 1 {
			t.Fatalf("%d bytes out, %d frames, published %d times of %d bytes", len(s.Out), len(sink.frames), sink.published, len(b))
		}
		if len(sink.frames) > 0 && sink.published == 0 {
			t.Fatal("frames of a stream that was not published")
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Fatalf("an error of %d bytes", len(err.Error()))
		}
	})
}
