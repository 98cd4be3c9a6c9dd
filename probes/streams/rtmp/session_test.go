package rtmp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/url"
	"strings"
	"testing"

	"snag/internal/amf"
	"snag/internal/rtmp"
	"snag/probes/streams/flv"
	"snag/probes/streams/stream"
)

// seen is a Sink that remembers.
type seen struct {
	published int
	frames    []stream.Frame
	params    []stream.Params
}

func (s *seen) Published(int64, string, string)     { s.published++ }
func (s *seen) Frame(f stream.Frame)                { s.frames = append(s.frames, f) }
func (s *seen) Params(p stream.Params)              { s.params = append(s.params, p) }
func (s *seen) Count(c stream.Count, n uint64)      {}
func (s *seen) Gauge(g stream.Gauge, value float64) {}

func target4(t *testing.T, raw string) rtmp.Target {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	to, err := rtmp.ParseTarget(u)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// server makes what a server sends.
type server struct{ b []byte }

func (s *server) command(stream uint32, values ...any) *server {
	s.b = rtmp.AppendMessage(s.b, rtmp.Header{Chunk: 3, Type: rtmp.TypeCommandAMF0, Stream: stream}, rtmp.FirstChunkSize, amf.Append(nil, values...))
	return s
}

func (s *server) status(level, code, words string) *server {
	return s.command(1, "onStatus", 0, nil, amf.Object{{Name: "level", Value: level}, {Name: "code", Value: code}, {Name: "description", Value: words}})
}

func (s *server) number(kind uint8, v uint32) *server {
	s.b = rtmp.AppendMessage(s.b, rtmp.Header{Chunk: 2, Type: kind}, rtmp.FirstChunkSize, binary.BigEndian.AppendUint32(nil, v))
	return s
}

func (s *server) event(event uint16, v uint32) *server {
	s.b = rtmp.AppendMessage(s.b, rtmp.Header{Chunk: 2, Type: rtmp.TypeUserControl}, rtmp.FirstChunkSize,
		binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(nil, event), v))
	return s
}

func (s *server) media(kind uint8, stamp uint32, payload string) *server {
	s.b = rtmp.AppendMessage(s.b, rtmp.Header{Chunk: 6, Type: kind, Stream: 1, Timestamp: stamp}, rtmp.FirstChunkSize, []byte(payload))
	return s
}

// letIn is a server's yes up to the stream.
func (s *server) letIn() *server {
	return s.number(rtmp.TypeWindowAckSize, 5000).
		command(0, "_result", 1, nil, amf.Object{{Name: "code", Value: "NetConnection.Connect.Success"}}).
		command(0, "onBWDone", 0, nil).
		command(0, "_result", 2, nil, 7).
		status("status", "NetStream.Play.Start", "Start live")
}

// got is a message with its head copied.
type got struct {
	rtmp.Header
	head string
}

// sent is what the player sends, as messages.
func sent(t *testing.T, b []byte) (out []got) {
	t.Helper()
	p := rtmp.NewParser()
	p.Strict = true
	for len(b) > 0 {
		n, m, err := p.Next(b)
		if err != nil {
			t.Fatal(err)
		}
		if b = b[n:]; m != nil {
			out = append(out, got{m.Header, string(m.Head)})
		}
	}
	return out
}

func TestASessionPlays(t *testing.T) {
	sink := &seen{}
	s := newSession(target4(t, "rtmp://h/live/cam1?token=abcdef"), sink)
	var srv server
	srv.letIn()
	if err := s.feed(srv.b, 1); err != nil || s.Phase != rtmp.Playing || sink.published != 0 {
		t.Fatalf("let in: %v, phase %d, published %d", err, s.Phase, sink.published)
	}
	var names []string
	for _, m := range sent(t, s.Out) {
		if m.Type == rtmp.TypeCommandAMF0 {
			v, err := amf.Decode([]byte(m.head))
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, v[0].(string))
			switch v[0] {
			case "connect":
				if o := v[2].(amf.Object); o.String("app") != "live" || o.String("tcUrl") != "rtmp://h/live" {
					t.Errorf("connect with %v", o)
				}
			case "play":
				if m.Stream != 7 || v[3] != "cam1?token=abcdef" || v[4] != -2000.0 {
					t.Errorf("play on stream %d with %v", m.Stream, v)
				}
			}
		}
	}
	if strings.Join(names, " ") != "connect createStream play" {
		t.Errorf("sent %v", names)
	}
	s.Out = nil
	srv = server{}
	srv.event(rtmp.EventPingRequest, 4711).
		media(rtmp.TypeDataAMF0, 0, string(amf.Append(nil, "onMetaData", amf.Object{{Name: "width", Value: 640}, {Name: "height", Value: 360}, {Name: "framerate", Value: 25}}))).
		media(rtmp.TypeVideo, 1000, "\x17\x01\x00\x00\x28"+strings.Repeat("k", 3000)).
		media(rtmp.TypeAudio, 990, "\x2f"+strings.Repeat("a", 417)).
		media(rtmp.TypeVideo, 960, "\x27\x01\xff\xff\xd8pp").
		media(rtmp.TypeVideo, 0xfffffff0, "\x27\x01\x00\x00\x00p")
	if err := s.feed(srv.b, 5); err != nil {
		t.Fatal(err)
	}
	want := []stream.Frame{
		{Kind: stream.Video, Key: true, Arrival: 5, DTS: 1000e6, PTS: 1040e6, Size: 3000, Mark: flv.Tag{Body: bytes.Repeat([]byte("k"), rtmp.Keep-5)}.Mark()},
		{Kind: stream.Audio, Key: true, Arrival: 5, DTS: 990e6, PTS: 990e6, Size: 417},
		{Kind: stream.Video, Arrival: 5, DTS: 960e6, PTS: 920e6, Size: 2},
		{Kind: stream.Video, Arrival: 5, DTS: -16e6, PTS: -16e6, Size: 1},
	}
	if sink.published != 1 || len(sink.frames) != len(want) {
		t.Fatalf("published %d times, frames %+v", sink.published, sink.frames)
	}
	for i := range want {
		if sink.frames[i] != want[i] {
			t.Errorf("frame %d: %+v, want %+v", i, sink.frames[i], want[i])
		}
	}
	if len(sink.params) != 2 || sink.params[0] != (stream.Params{Codec: "h264", Width: 640, Height: 360, FPS: 25}) ||
		sink.params[1] != (stream.Params{Kind: stream.Audio, Codec: "mp3", SampleRate: 44100, Channels: 2}) {
		t.Errorf("params %+v", sink.params)
	}
	answers := sent(t, s.Out)
	if len(answers) != 2 || answers[0].head != "\x00\x07\x00\x00\x12\x67" || answers[1].Type != rtmp.TypeAck ||
		uint64(binary.BigEndian.Uint32([]byte(answers[1].head))) != s.In.Offset() {
		t.Errorf("answers %+v, want a pong and an acknowledgement", answers)
	}
}

func TestASessionEnds(t *testing.T) {
	on := func() *server { return (&server{}).letIn() }
	frame := "\x27\x01\x00\x00\x00p"
	for _, c := range []struct {
		name    string
		b       *server
		refused string // else
		ended   string
		other   string
	}{
		{name: "no such application", b: (&server{}).command(0, "_error", 1, nil, amf.Object{{Name: "level", Value: "error"},
			{Name: "code", Value: "NetConnection.Connect.Rejected"}, {Name: "description", Value: "no application 'live'"}}),
			refused: "NetConnection.Connect.Rejected: no application 'live'"},
		{name: "an _error without words", b: (&server{}).command(0, "_error", 1), refused: "_error"},
		{name: "no such stream", b: (&server{}).letIn().status("error", "NetStream.Play.StreamNotFound", "No such stream cam1?token=abcdef"),
			refused: "NetStream.Play.StreamNotFound: No such stream cam1?…"},
		{name: "unpublished", b: on().media(rtmp.TypeVideo, 0, frame).status("status", "NetStream.Play.UnpublishNotify", "bye"),
			ended: "NetStream.Play.UnpublishNotify: bye"},
		{name: "end of stream", b: on().media(rtmp.TypeVideo, 0, frame).event(rtmp.EventStreamEOF, 1), ended: "Stream EOF"},
		{name: "published, by notice alone, and stopped", b: on().status("status", "NetStream.Play.PublishNotify", "").status("status", "NetStream.Play.Stop", ""),
			ended: "NetStream.Play.Stop"},
		{name: "failed while playing", b: on().media(rtmp.TypeVideo, 0, frame).status("error", "NetStream.Play.Failed", "disk"), ended: "NetStream.Play.Failed: disk"},
		{name: "closed", b: on().command(0, "close", 0), ended: "the server sent close"},
		{name: "end of stream before there was one", b: on().event(rtmp.EventStreamEOF, 1).status("status", "NetStream.Play.UnpublishNotify", "")},
		{name: "a late _error of another command", b: on().command(0, "_error", 5, nil, nil)},
		{name: "chunk size 0", b: on().number(rtmp.TypeSetChunkSize, 0), other: "chunk size of 0"},
		{name: "chunk size 2 GB", b: on().number(rtmp.TypeSetChunkSize, 1<<31-1), other: "chunk size of 0 or more than 16 MiB"},
		{name: "a command that is none", b: &server{rtmp.AppendMessage(nil, rtmp.Header{Chunk: 3, Type: rtmp.TypeCommandAMF0}, 128, []byte("GET / HTTP/1.1"))}, other: "unreadable"},
	} {
		s := newSession(target4(t, "rtmp://h/live/cam1?token=abcdef"), &seen{})
		err := s.feed(c.b.b, 1)
		var refused *stream.Refused
		var ended *stream.Ended
		switch {
		case c.refused != "":
			if !errors.As(err, &refused) || refused.Why != c.refused {
				t.Errorf("%s: %v, want refused: %s", c.name, err, c.refused)
			}
		case c.ended != "":
			if !errors.As(err, &ended) || ended.Why != c.ended {
				t.Errorf("%s: %v, want ended: %s", c.name, err, c.ended)
			}
		case c.other != "":
			if err == nil || errors.As(err, &refused) || errors.As(err, &ended) || !strings.Contains(err.Error(), c.other) {
				t.Errorf("%s: %v, want %q", c.name, err, c.other)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), "abcdef") {
			t.Errorf("%s: the token is in %q", c.name, err)
		}
	}
}

func TestChallenge(t *testing.T) {
	to := target4(t, "rtmp://user:secret@h/live/cam1")
	c, ok := challengeIn("[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : ")
	if !ok || c.asked != nil {
		t.Fatalf("first step: %+v %v", c, ok)
	}
	if s, err := c.answer(to); err != nil || s != "?authmod=adobe&user=user" {
		t.Errorf("first answer %q, %v", s, err)
	}
	c, ok = challengeIn("[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=needauth&user=user&salt=ab+c=&challenge=Q==&opaque=O+==")
	if !ok || c.asked.Get("salt") != "ab+c=" || c.asked.Get("opaque") != "O+==" {
		t.Fatalf("second step: %+v %v", c, ok)
	}
	// By the shell: h=$(printf 'userab+c=secret' | openssl md5 -binary | base64);
	// printf "${h}O+==01020304" | openssl md5 -binary | base64
	if s := c.adobe(to, "01020304"); s != "?authmod=adobe&user=user&challenge=01020304&response="+adobeWanted+"&opaque=O+==" {
		t.Errorf("adobe: %s", s)
	}
	c, ok = challengeIn("[ AccessManager.Reject ] : [ authmod=llnw ] : ?reason=needauth&user=user&nonce=abc")
	if !ok {
		t.Fatal("no llnw challenge")
	}
	if s := c.llnw(to, "01020304"); s != "?authmod=llnw&user=user&nonce=abc&cnonce=01020304&nc=00000001&response="+llnwWanted {
		t.Errorf("llnw: %s", s)
	}
	for _, no := range []string{"", "no such app", "[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=authfailed&opaque=x", "code=403 need auth; authmod=other"} {
		if c, ok := challengeIn(no); ok {
			t.Errorf("%q is a challenge: %+v", no, c)
		}
	}
}

// As the shell's md5sum and openssl compute them.
const (
	adobeWanted = "/cgIjmQKR6z4NUJoyZuKWg=="
	llnwWanted  = "6e381a15faf064c47acc4e8e51922bf3"
)
