package peek

import (
	"strings"
	"testing"

	"snag/internal/amf"
	"snag/internal/rtmp"
)

// rtmpCommand is a command as an encoder sends it, in one chunk.
func rtmpCommand(t testing.TB, values ...any) []byte {
	t.Helper()
	var body []byte
	for _, v := range values {
		body = amf.Append(body, v)
	}
	return rtmp.AppendMessage(nil, rtmp.Header{Chunk: 3, Type: rtmp.TypeCommandAMF0}, 4096, body)
}

func TestNamesOfStreams(t *testing.T) {
	connect := rtmpCommand(t, "connect", 1.0, amf.Object{{Name: "app", Value: "live"}, {Name: "tcUrl", Value: "rtmp://10.0.0.1/live"}})
	var c Conn
	if !c.Learn(3073, connect[:64]) || c.Name() != "RTMP live" {
		t.Errorf("connect, its first 64 bytes: %q", c.Name())
	}
	release := rtmpCommand(t, "releaseStream", 2.0, nil, "cam1?key=secret")
	create := rtmpCommand(t, "createStream", 4.0, nil)
	c.Learn(3400, append(release, create...))
	if c.Name() != "RTMP publish live/cam1" {
		t.Errorf("releaseStream: %q", c.Name())
	}
	if c.Learn(3500, rtmpCommand(t, "publish", 5.0, nil, "cam1?key=secret", "live")) {
		t.Errorf("publish after it changed the name to %q", c.Name())
	}
	var p Conn
	p.Learn(3500, rtmpCommand(t, "play", 5.0, nil, "cam1"))
	if p.Name() != "RTMP play cam1" {
		t.Errorf("play: %q", p.Name())
	}
	var long Conn
	long.Learn(3500, rtmpCommand(t, "publish", 5.0, nil, strings.Repeat("x", 80))[:64])
	if n := long.Name(); !strings.HasPrefix(n, "RTMP publish xxxx") || !strings.HasSuffix(n, "x…") {
		t.Errorf("a name that is cut off: %q", n)
	}
}

func TestRequestLines(t *testing.T) {
	for in, want := range map[string]string{
		"GET /x?token=abc HTTP/1.1\r\nHost: a":                   "GET /x HTTP/1.1",
		"POST /api/v1/login HTTP/1.1\r\n":                        "POST /api/v1/login HTTP/1.1",
		"GET /a/very/long/path/that/ends":                        "GET /a/very/long/path/that/ends…",
		"GET /p?secr":                                            "GET /p",
		"DESCRIBE rtsp://admin:pw@10.0.0.7/cam?k=v RTSP/1.0\r\n": "DESCRIBE rtsp://10.0.0.7/cam RTSP/1.0",
		"OPTIONS rtsp://admin:p":                                 "OPTIONS rtsp://…",
		"GET /x#y HTTP/1.1\r\n":                                  "GET /x HTTP/1.1",
		"GETS /x HTTP/1.1\r\n":                                   "",
		"GET /x\r\n":                                             "",
		"hello there\n":                                          "",
		"GET ":                                                   "",
		"\x16\x03\x01\x02\x00\x01":                               "",
	} {
		var c Conn
		c.Learn(0, []byte(in))
		if c.Name() != want {
			t.Errorf("%q: %q, want %q", in, c.Name(), want)
		}
	}
	var c Conn
	if c.Learn(10, []byte("GET /x HTTP/1.1\r\n")) {
		t.Error("a request line in the middle of what a client sends")
	}
}

func FuzzLearn(f *testing.F) {
	f.Add(uint64(0), []byte("GET /x?token=abc HTTP/1.1\r\n"))
	f.Add(uint64(3073), rtmpCommand(f, "connect", 1.0, amf.Object{{Name: "app", Value: "live"}}))
	f.Add(uint64(3073), rtmpCommand(f, "publish", 5.0, nil, "cam1?key=secret", "live"))
	f.Fuzz(func(t *testing.T, offset uint64, b []byte) {
		var c Conn
		c.Learn(offset, b)
		n := c.Name()
		if strings.ContainsRune(n, '?') || strings.ContainsAny(n, "\x00\n\r") || len(n) > 2*most+64 {
			t.Errorf("%q is learnt from %q", n, b)
		}
	})
}
