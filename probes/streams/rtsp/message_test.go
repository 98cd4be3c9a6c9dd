package rtsp

import (
	"errors"
	"strings"
	"testing"

	"snag/internal/httpauth"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in     string
		status, n    int
		method, body string
		err          string
	}{
		{"answer", "RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: 3\r\n\r\nabcREST", 200, 50, "", "abc", ""},
		{"bare line feeds", "RTSP/1.0 200 OK\nCSeq: 2\n\n", 200, 25, "", "", ""},
		{"lines before it", "\r\n\r\nRTSP/1.0 404 Not Found\r\n\r\n", 404, 30, "", "", ""},
		{"request", "OPTIONS rtsp://h/ RTSP/1.0\r\nCSeq: 7\r\n\r\n", 0, 39, "OPTIONS", "", ""},
		{"packet", "$\x01\x00\x02hiRTSP", 0, 6, "", "hi", ""},
		{"half a header", "RTSP/1.0 200 OK\r\nCSeq", 0, 0, "", "", "more"},
		{"half a body", "RTSP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nabc", 0, 0, "", "", "more"},
		{"half a packet", "$\x01\x00\x09hi", 0, 0, "", "", "more"},
		{"nothing", "", 0, 0, "", "", "more"},
		{"HTTP", "HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\n", 0, 0, "", "", `speaks HTTP, not RTSP: "HTTP/1.1 400 Bad Request"`},
		{"SSH", "SSH-2.0-OpenSSH_9.2\r\n", 0, 0, "", "", "does not speak RTSP"},
		{"a body of 2 GB", "RTSP/1.0 200 OK\r\nContent-Length: 2147483648\r\n\r\n", 0, 0, "", "", "Content-Length"},
		{"a negative body", "RTSP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n", 0, 0, "", "", "Content-Length"},
		{"an endless header", "RTSP/1.0 200 OK\r\n" + strings.Repeat("A: b\r\n", 5000), 0, 0, "", "", "longer than"},
		{"too many fields", "RTSP/1.0 200 OK\r\n" + strings.Repeat("A: b\r\n", 200) + "\r\n", 0, 0, "", "", "fields"},
		{"no status", "RTSP/1.0 OK\r\n\r\n", 0, 0, "", "", "status"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, n, err := parse([]byte(c.in))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.status != c.status || n != c.n || m.method != c.method || string(m.body) != c.body {
				t.Errorf("status %d method %q body %q of %d bytes", m.status, m.method, m.body, n)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: 3\r\n\r\nabc$\x00\x00\x01x"))
	f.Add([]byte("REDIRECT rtsp://h/ RTSP/1.0\r\nA: b\r\n c\r\n\r\n"))
	f.Add([]byte("RTSP/1.0 401 no\r\nWWW-Authenticate: Digest realm=\"a\\\"b\", nonce=\"x\", qop=\"auth,auth-int\"\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\nSession: 1;timeout=9\r\nRTP-Info: url=a/b;rtptime=1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			m, n, err := parse(b)
			if err != nil {
				if errors.Is(err, errMore) && len(b) > bufMost {
					t.Fatalf("it asks for more than %d bytes", len(b))
				}
				return
			}
			if n <= 0 || n > len(b) || len(m.body) > n || len(m.fields) > maxFields {
				t.Fatalf("%d bytes of %d, body of %d", n, len(b), len(m.body))
			}
			_, _ = httpauth.Choose(m.all("WWW-Authenticate"))
			readTransport(m.get("Transport"))
			readSession(m.get("Session"))
			readRTPInfo(m.get("RTP-Info"), []string{"rtsp://h/a/b", ""})
			b = b[n:]
		}
	})
}

// Nearly all that comes is packets: finding one costs next to nothing.
func BenchmarkInterleaved(b *testing.B) {
	buf := append([]byte{'$', 0, 1400 >> 8, 1400 & 255}, make([]byte, 1400)...)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, ok, err := packet(buf); !ok || err != nil {
			b.Fatal(err)
		}
	}
}
