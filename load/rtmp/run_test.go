package rtmp

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"snag/internal/amf"
	"snag/internal/rtmp"
	"snag/load"
)

// serve runs a server of the test's own: each connection is handed over after the handshake.
func serve(t *testing.T, with func(c net.Conn)) (target rtmp.Target) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				b := make([]byte, 1+2*rtmp.HandshakeSize)
				if _, err := io.ReadFull(c, b[:1+rtmp.HandshakeSize]); err != nil {
					return
				}
				b[0] = rtmp.Version
				_, _ = c.Write(b)
				if _, err := io.ReadFull(c, b[:rtmp.HandshakeSize]); err == nil {
					with(c)
				}
			}()
		}
	}()
	to, err := Parse("rtmp://" + l.Addr().String() + "/live/cam")
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func command(b []byte, values ...any) []byte {
	return rtmp.AppendMessage(b, rtmp.Header{Chunk: 3, Type: rtmp.TypeCommandAMF0}, rtmp.FirstChunkSize, amf.Append(nil, values...))
}

// letIn answers connect and createStream, and says the code of the rest.
func letIn(c net.Conn, level, code string) {
	o := amf.Object{{Name: "level", Value: level}, {Name: "code", Value: code}, {Name: "description", Value: "words"}}
	b := command(nil, "_result", 1, nil, amf.Object{{Name: "code", Value: "NetConnection.Connect.Success"}})
	b = command(b, "_result", 2, nil, 1)
	_, _ = c.Write(command(b, "onStatus", 0, nil, o))
}

func plan(to rtmp.Target) Plan {
	return Plan{Target: to, For: 800 * time.Millisecond, Timeout: 400 * time.Millisecond, Options: load.SocketOptions{CPU: -1}}
}

// What a server does to its players is counted by kind.
func TestEndsOfPlayers(t *testing.T) {
	frame := func(c net.Conn, stamp uint32) error {
		_, err := c.Write(rtmp.AppendMessage(nil, rtmp.Header{Chunk: 6, Type: rtmp.TypeVideo, Stream: 1, Timestamp: stamp}, rtmp.FirstChunkSize, []byte("\x27\x01\x00\x00\x00p")))
		return err
	}
	for _, tt := range []struct {
		name   string
		with   func(net.Conn)
		want   Outcome
		frames bool
	}{
		{"refuses", func(c net.Conn) { letIn(c, "error", "NetStream.Play.StreamNotFound"); _, _ = io.Copy(io.Discard, c) }, "refused: NetStream.Play.StreamNotFound: words", false},
		{"says nothing", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, Outcome(load.NoAnswer), false},
		{"closes", func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) }, "ended: connection closed by the server", false},
		{"ends the stream", func(c net.Conn) {
			letIn(c, "status", "NetStream.Play.Start")
			_ = frame(c, 0)
			time.Sleep(50 * time.Millisecond)
			_, _ = c.Write(command(nil, "onStatus", 0, nil, amf.Object{{Name: "code", Value: "NetStream.Play.UnpublishNotify"}}))
			_, _ = io.Copy(io.Discard, c)
		}, "ended: NetStream.Play.UnpublishNotify", true},
	} {
		p := plan(serve(t, tt.with))
		p.Players = 2
		r, err := Run(context.Background(), p)
		if r == nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if e := r.Ends(); len(e) != 1 || e[0] != (End{tt.want, 2}) || (r.Players[0].Frames > 0) != tt.frames {
			t.Errorf("%s: %+v, %d frames", tt.name, e, r.Players[0].Frames)
		}
		if (err != nil) == tt.frames || err != nil && !strings.Contains(err.Error(), "no session was accepted: "+string(tt.want)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	p := plan(serve(t, func(net.Conn) {}))
	p.Target.Port, p.Players = "1", 1
	if r, err := Run(context.Background(), p); err == nil || r.Ends()[0].Outcome != Outcome(load.Refused) {
		t.Errorf("nothing listens: %v", err)
	}
}

// Frames that come at their times are no freeze, and a pause of 1.3 s is one; the answers to pings go out.
func TestAPlayerCountsFrames(t *testing.T) {
	pong := make(chan bool, 1)
	p := plan(serve(t, func(c net.Conn) {
		letIn(c, "status", "NetStream.Play.Start")
		go func() {
			in, b := rtmp.NewParser(), make([]byte, 4096)
			for {
				n, err := c.Read(b)
				if err != nil {
					return
				}
				for rest := b[:n]; len(rest) > 0; {
					k, m, err := in.Next(rest)
					if err != nil {
						return
					}
					if rest = rest[k:]; m != nil && m.Type == rtmp.TypeUserControl && binary.BigEndian.Uint16(m.Head) == rtmp.EventPingResponse {
						select {
						case pong <- true:
						default:
						}
					}
				}
			}
		}()
		ping := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(nil, rtmp.EventPingRequest), 1)
		config := rtmp.AppendMessage(nil, rtmp.Header{Chunk: 6, Type: rtmp.TypeVideo, Stream: 1}, rtmp.FirstChunkSize, []byte("\x17\x00\x00\x00\x00config"))
		_, _ = c.Write(config)
		for i := uint32(0); ; i++ {
			if i == 10 {
				_, _ = c.Write(rtmp.AppendMessage(nil, rtmp.Header{Chunk: 2, Type: rtmp.TypeUserControl}, rtmp.FirstChunkSize, ping))
			}
			if i == 20 {
				time.Sleep(1300 * time.Millisecond)
			}
			if _, err := c.Write(rtmp.AppendMessage(nil, rtmp.Header{Chunk: 6, Type: rtmp.TypeVideo, Stream: 1, Timestamp: i * 20}, rtmp.FirstChunkSize, []byte("\x27\x01\x00\x00\x00p"))); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}))
	p.Players, p.For = 1, 2900*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Players[0]
	if got.Frames < 40 || got.Outcome != "" || got.Freezes != 1 || got.Frozen < 1200*time.Millisecond || got.Own < 49 || got.Own > 51 || got.Behind < 1200*time.Millisecond || got.FirstFrame <= 0 || got.FirstFrame > time.Second {
		t.Errorf("%+v", got)
	}
	select {
	case <-pong:
	default:
		t.Error("the ping was not answered")
	}
	if f := r.Figures(); f.Got != 1 || f.Slow != 1 || f.Froze != 1 || f.Own < 49 {
		t.Errorf("%+v", f)
	}
}

// A server that stops reading after 0.7 s: the sending falls behind, and is given up 0.4 s later.
func TestAPublisherFallsBehind(t *testing.T) {
	big := flv(0, 10, 20, 30)
	file, err := NewFile(big)
	if err != nil {
		t.Fatal(err)
	}
	for i := range file.Tags {
		file.Tags[i].Body = append([]byte("\x17\x01\x00\x00\x00"), make([]byte, 1<<18)...)
	}
	p := plan(serve(t, func(c net.Conn) {
		letIn(c, "status", "NetStream.Publish.Start")
		_ = c.SetReadDeadline(time.Now().Add(700 * time.Millisecond))
		_, _ = io.Copy(io.Discard, c)
		time.Sleep(3 * time.Second)
	}))
	p.Publishers, p.File, p.For = 1, file, 3*time.Second
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Publishers[0]
	if got.Outcome != "the server stopped reading" || got.Stream != "cam-1" || got.Sent < 46 || got.Behind < 300*time.Millisecond || got.Worst < got.Behind || time.Duration(r.Behind.Max()) < 300*time.Millisecond {
		t.Errorf("%+v", got)
	}
}
