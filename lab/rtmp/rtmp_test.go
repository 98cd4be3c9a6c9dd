package rtmp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"reflect"
	"testing"
)

func TestAMFRoundTrip(t *testing.T) {
	want := []any{"_result", 1.0, nil, true, map[string]any{"code": "NetStream.Play.Start", "n": map[string]any{"x": -2000.5}}}
	var b []byte
	for _, v := range want {
		b = appendAMF(b, v)
	}
	got, err := decodeAMF(b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("decodeAMF = %#v, %v; want %#v", got, err, want)
	}
	for n := 1; n < len(b); n++ {
		if got, err := decodeAMF(b[:n]); err == nil && len(got) >= len(want) {
			t.Errorf("cut at %d of %d bytes: no error and all values", n, len(b))
		}
	}
}

func TestChunksRoundTrip(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 100) // 1000 bytes: 8 chunks
	wire := appendMessage(nil, 3, typeCommand, 7, body)
	wire = appendMessage(wire, 2, typeUserControl, 0, []byte{0, 6, 1, 2, 3, 4})
	c := newChunks(bytes.NewReader(wire))
	m, err := c.next()
	if err != nil || m.kind != typeCommand || m.stream != 7 || !bytes.Equal(m.body, body) {
		t.Fatalf("first message: kind %d stream %d, %d bytes, %v", m.kind, m.stream, len(m.body), err)
	}
	if m, err = c.next(); err != nil || m.kind != typeUserControl || len(m.body) != 6 {
		t.Fatalf("second message: %+v, %v", m, err)
	}
	if _, err = c.next(); !errors.Is(err, io.EOF) {
		t.Fatalf("after the last: %v, want EOF", err)
	}
}

func TestChunkSizeIsObeyed(t *testing.T) {
	wire := appendMessage(nil, 2, typeSetChunkSize, 0, []byte{0, 0, 0x10, 0})
	body := bytes.Repeat([]byte{9}, 600)
	wire = append(wire, 3, 0, 0, 0, 0, 2, 0x58, typeCommand, 0, 0, 0, 0) // 600 bytes in one chunk
	wire = append(wire, body...)
	c := newChunks(bytes.NewReader(wire))
	if _, err := c.next(); err != nil {
		t.Fatal(err)
	}
	if m, err := c.next(); err != nil || !bytes.Equal(m.body, body) {
		t.Fatalf("%d bytes, %v", len(m.body), err)
	}
}

func TestRefusesWhatIsTooLong(t *testing.T) {
	wire := []byte{3, 0, 0, 0, 0xff, 0xff, 0xff, typeCommand, 0, 0, 0, 0}
	if _, err := newChunks(bytes.NewReader(wire)).next(); err == nil || errors.Is(err, io.EOF) {
		t.Fatalf("a message of 16 MB: %v, want a refusal", err)
	}
}

// A server of a few lines that answers as nginx-rtmp does.
func serve(t *testing.T, conn net.Conn, code string) {
	defer conn.Close()
	hello := make([]byte, 1+handshakeSize)
	if _, err := io.ReadFull(conn, hello); err != nil {
		return
	}
	if _, err := conn.Write(append(append([]byte{3}, hello[1:]...), hello[1:]...)); err != nil {
		return
	}
	if _, err := io.ReadFull(conn, hello[1:]); err != nil {
		return
	}
	in := newChunks(conn)
	for {
		m, err := in.next()
		if err != nil {
			return
		}
		args, err := decodeAMF(m.body)
		if err != nil || len(args) < 2 {
			continue
		}
		status := map[string]any{"code": code}
		var answer []any
		switch args[0] {
		case "connect":
			answer = []any{"_result", args[1], nil, map[string]any{"code": "NetConnection.Connect.Success"}}
		case "createStream":
			answer = []any{"_result", args[1], nil, 1.0}
		case "play":
			if len(args) < 4 || args[3] != "match" {
				t.Errorf("play asked for %v", args)
			}
			answer = []any{"onStatus", 0.0, nil, status}
		}
		var body []byte
		for _, v := range answer {
			body = appendAMF(body, v)
		}
		if _, err := conn.Write(appendMessage(nil, 3, typeCommand, m.stream, body)); err != nil {
			return
		}
	}
}

func TestPlay(t *testing.T) {
	for _, c := range []struct {
		code string
		ok   func(error) bool
	}{
		{"NetStream.Play.Start", func(e error) bool { return e == nil }},
		{"NetStream.Play.StreamNotFound", func(e error) bool { return errors.Is(e, ErrNotFound) }},
		{"NetStream.Play.Failed", func(e error) bool {
			var r *Refused
			return errors.As(e, &r) && r.Code == "NetStream.Play.Failed"
		}},
	} {
		here, there := net.Pipe()
		go serve(t, there, c.code)
		p, err := Handshake(here)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Play("example", "live", "match"); !c.ok(err) {
			t.Errorf("%s: Play = %v", c.code, err)
		}
		here.Close()
	}
}

func FuzzDecodeAMF(f *testing.F) {
	f.Add(appendAMF(appendAMF(nil, "_result"), map[string]any{"code": "x", "n": 1.0}))
	f.Add([]byte{markStrict, 0xff, 0xff, 0xff, 0xff, markNull})
	f.Add([]byte{markObject, 0, 1, 'a', markObject})
	f.Fuzz(func(t *testing.T, b []byte) {
		values, err := decodeAMF(b)
		if err == nil && len(b) > 0 && len(values) == 0 {
			t.Fatal("bytes without a value and without an error")
		}
	})
}

func FuzzChunks(f *testing.F) {
	f.Add(appendMessage(nil, 3, typeCommand, 1, bytes.Repeat([]byte{1}, 300)))
	f.Add(appendMessage(nil, 2, typeSetChunkSize, 0, []byte{0x7f, 0xff, 0xff, 0xff}))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := newChunks(bytes.NewReader(b))
		for n := 0; ; n++ {
			if _, err := c.next(); err != nil {
				return
			}
			if n > len(b) {
				t.Fatal("more messages than bytes")
			}
		}
	})
}
