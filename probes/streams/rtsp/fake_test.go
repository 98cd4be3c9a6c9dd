package rtsp

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

// taken is a sink that remembers.
type taken struct {
	mu            sync.Mutex
	frames        []stream.Frame
	params        []stream.Params
	counts        [stream.Counts]uint64
	local, remote string
	notes         []string
	enough        func(*taken) bool
	done          func()
}

func (s *taken) Published(_ int64, local, remote string) { s.local, s.remote = local, remote }
func (s *taken) Params(p stream.Params)                  { s.params = append(s.params, p) }
func (s *taken) Gauge(stream.Gauge, float64)             {}
func (s *taken) Note(text string)                        { s.notes = append(s.notes, text) }
func (s *taken) Count(c stream.Count, n uint64)          { s.counts[c] += n }
func (s *taken) Frame(f stream.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, f)
	if s.enough != nil && s.enough(s) {
		s.done()
	}
}

// fake is a server by a script: what it answers to each method, in turn; the last
// answer stands. An answer is the status line and fields, a body after an empty line.
type fake struct {
	t       *testing.T
	l       net.Listener
	answers map[string][]string
	after   string // sent after the answer to PLAY
	hangUp  bool   // then
	mu      sync.Mutex
	got     []string // requests: method, URI and the fields of note
}

func serve(t *testing.T, answers map[string][]string, after string) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveAt(t, l, answers, after)
}

func serveAt(t *testing.T, l net.Listener, answers map[string][]string, after string) *fake {
	t.Helper()
	f := &fake{t: t, l: l, answers: answers, after: after}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.talk(c)
		}
	}()
	return f
}

func (f *fake) talk(c net.Conn) {
	defer c.Close()
	r := textproto.NewReader(bufio.NewReader(c))
	udp := false
	for {
		line, err := r.ReadLine()
		if err != nil {
			return
		}
		if line == "" || line[0] == '$' {
			continue
		}
		fields, err := r.ReadMIMEHeader()
		if err != nil {
			return
		}
		method, rest, _ := strings.Cut(line, " ")
		uri, _, _ := strings.Cut(rest, " ")
		if method == "RTSP/1.0" { // an answer
			continue
		}
		f.mu.Lock()
		f.got = append(f.got, fmt.Sprintf("%s %s %s%s", method, strings.Replace(uri, f.l.Addr().String(), "h", 1), fields.Get("Transport"), fields.Get("Authorization")))
		answer := "200 OK"
		if a := f.answers[method]; len(a) > 0 {
			answer = a[0]
			if len(a) > 1 {
				f.answers[method] = a[1:]
			}
		}
		f.mu.Unlock()
		answer = strings.ReplaceAll(answer, "HOST", f.l.Addr().String())
		head, body, _ := strings.Cut(answer, "\n\n")
		if answer == "close" {
			return
		}
		text := "RTSP/1.0 " + strings.ReplaceAll(head, "\n", "\r\n") + "\r\nCSeq: " + fields.Get("CSeq")
		if body != "" {
			body = strings.ReplaceAll(body, "\n", "\r\n")
			text += fmt.Sprintf("\r\nContent-Length: %d", len(body))
		}
		text += "\r\n\r\n" + body
		if method == "SETUP" {
			udp = strings.Contains(answer, "RTP/AVP;")
		}
		if method == "PLAY" && strings.HasPrefix(answer, "200") && !udp {
			text += f.after
		}
		if _, err := io.WriteString(c, text); err != nil || method == "PLAY" && f.hangUp {
			return
		}
	}
}

func (f *fake) requests() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.got, "\n")
}

// open reads a path of the server for so long at most.
func (f *fake) open(sink stream.Sink, pattern string) error {
	u, err := url.Parse(strings.Replace(pattern, "HOST", f.l.Addr().String(), 1))
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	return Open(ctx, u, sink, stream.Options{Timeout: 2 * time.Second})
}

const sdpText = `v=0
o=- 0 0 IN IP4 127.0.0.1
s=x
c=IN IP4 0.0.0.0
t=0 0
a=control:*
m=video 0 RTP/AVP 96
a=rtpmap:96 H264/90000
a=control:trackID=1
m=audio 0 RTP/AVP 8
a=control:trackID=2
m=application 0 RTP/AVP 107
a=rtpmap:107 vnd.onvif.metadata/90000
`

var describeOK = []string{"200 OK\nContent-Base: rtsp://HOST/a/\nContent-Type: application/sdp\n\n" + sdpText}

func framed(channel byte, b []byte) string {
	return string([]byte{'$', channel, byte(len(b) >> 8), byte(len(b))}) + string(b)
}

// rtpOf makes a packet of the fake's tracks.
func rtpOf(pt byte, seq byte, payload ...byte) []byte {
	return append([]byte{0x80, 0x80 | pt, 0, seq, 0, 0, seq, 0, 0, 0, 0, pt}, payload...)
}

func played() string {
	var b strings.Builder
	for seq := range byte(20) {
		b.WriteString(framed(0, rtpOf(96, seq, 0x65, 0x88, 0)))
		b.WriteString(framed(3, []byte{0x80})) // RTCP that is none
		b.WriteString(framed(2, rtpOf(8, seq, 1, 2, 3)))
		b.WriteString(framed(9, []byte("of nobody")))
		if seq == 7 {
			b.WriteString("OPTIONS rtsp://x RTSP/1.0\r\nCSeq: 9\r\n\r\n")
		}
	}
	return b.String() + "TEARDOWN rtsp://x RTSP/1.0\r\nCSeq: 10\r\n\r\n"
}

func TestPlay(t *testing.T) {
	f := serve(t, map[string][]string{
		"DESCRIBE": describeOK,
		"SETUP":    {"200 OK\nSession: 77;timeout=30\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1", "200 OK\nTransport: RTP/AVP/TCP;unicast;interleaved=2-3"},
	}, played())
	sink := &taken{}
	err := f.open(sink, "rtsp://HOST/a?token=secret")
	var ended *stream.Ended
	if !errors.As(err, &ended) || !strings.Contains(err.Error(), "TEARDOWN") || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	if len(sink.frames) != 40 || sink.local == "" || sink.remote != f.l.Addr().String() {
		t.Errorf("%d frames, %q to %q", len(sink.frames), sink.local, sink.remote)
	}
	want := "OPTIONS rtsp://h/a?token=secret \nDESCRIBE rtsp://h/a?token=secret \n" +
		"SETUP rtsp://h/a/trackID=1 RTP/AVP/TCP;unicast;interleaved=0-1\nSETUP rtsp://h/a/trackID=2 RTP/AVP/TCP;unicast;interleaved=2-3\nPLAY rtsp://h/a/ \nTEARDOWN rtsp://h/a?token=secret "
	time.Sleep(50 * time.Millisecond)
	if got := f.requests(); got != want {
		t.Errorf("asked\n%s\nwant\n%s", got, want)
	}
	if len(sink.params) != 2 || sink.params[0].Codec != "h264" || sink.params[1].Codec != "pcma" || sink.params[1].SampleRate != 8000 {
		t.Errorf("%+v", sink.params)
	}
}

func TestRefusals(t *testing.T) {
	const digest = "401 Unauthorized\nWWW-Authenticate: Digest realm=\"cam\", nonce=\"abc\""
	for _, c := range []struct {
		name, url string
		answers   map[string][]string
		want      string
		refused   bool
	}{
		{"not there", "rtsp://HOST/a", map[string][]string{"DESCRIBE": {"404 Not Found"}}, "404 Not Found", true},
		{"no password", "rtsp://HOST/a", map[string][]string{"DESCRIBE": {digest}}, "it wants a user and password", true},
		{"wrong password", "rtsp://joe:secret@HOST/a", map[string][]string{"DESCRIBE": {digest}}, "with the URL's user and password", true},
		{"a way that is not known", "rtsp://joe:secret@HOST/a", map[string][]string{"DESCRIBE": {"401 Unauthorized\nWWW-Authenticate: NTLM"}}, "NTLM", true},
		{"session gone", "rtsp://HOST/a", map[string][]string{"DESCRIBE": describeOK, "PLAY": {"454 Session Not Found"}}, "454", true},
		{"neither transport", "rtsp+udp://HOST/a", map[string][]string{"DESCRIBE": describeOK, "SETUP": {"461 Unsupported Transport"}}, "461", true},
		{"redirects for ever", "rtsp://HOST/a", map[string][]string{"DESCRIBE": {"302 Moved\nLocation: rtsp://HOST/a"}}, "redirects more than 5", true},
		{"redirects to the web", "rtsp://HOST/a", map[string][]string{"DESCRIBE": {"302 Moved\nLocation: http://HOST/a"}}, "not RTSP", true},
		{"closes", "rtsp://HOST/a", map[string][]string{"DESCRIBE": {"close"}}, "DESCRIBE: connection closed by the server", false},
		{"no SDP", "rtsp://HOST/a", map[string][]string{"DESCRIBE": {"200 OK\n\n<html></html>"}}, "session description", false},
		{"nothing to receive", "rtsp://HOST/a", map[string][]string{"DESCRIBE": {"200 OK\n\nv=0\no=- 0 0 IN IP4 0.0.0.0\ns=x\nt=0 0\nm=video 0 RTP/AVP 99\na=rtpmap:99 X-SVAC/90000\n"}}, "X-SVAC is not known", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := serve(t, c.answers, "").open(&taken{}, c.url)
			var r *stream.Refused
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &r) != c.refused || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAuthAndRedirect(t *testing.T) {
	inner := serve(t, map[string][]string{
		"DESCRIBE": {"401 Unauthorized\nWWW-Authenticate: Digest realm=\"cam\", nonce=\"abc\", algorithm=SHA-256, qop=\"auth\"\nWWW-Authenticate: Basic realm=\"cam\"", describeOK[0]},
	}, played())
	err := inner.open(&taken{}, "rtsp://joe:secret@HOST/a")
	if err == nil || !strings.Contains(err.Error(), "TEARDOWN") {
		t.Fatal(err)
	}
	if got := inner.requests(); strings.Count(got, `Digest username="joe", realm="cam", nonce="abc"`) < 4 || strings.Contains(got, "Basic") {
		t.Errorf("asked\n%s", got)
	}
	// To another host goes no password.
	other := serve(t, map[string][]string{"DESCRIBE": {"401 Unauthorized\nWWW-Authenticate: Basic realm=\"x\""}}, "")
	outer := serve(t, map[string][]string{"DESCRIBE": {"301 Moved\nLocation: rtsp://" + other.l.Addr().String() + "/b"}}, "")
	sink := &taken{}
	err = outer.open(sink, "rtsp://joe:secret@HOST/a")
	var r *stream.Refused
	if !errors.As(err, &r) || strings.Contains(other.requests(), "Basic") {
		t.Errorf("%v; asked\n%s", err, other.requests())
	}
	if len(sink.notes) != 1 || !strings.Contains(sink.notes[0], "redirects to") {
		t.Errorf("notes %q", sink.notes)
	}
}

func TestConnectionClosed(t *testing.T) {
	f := serve(t, map[string][]string{"DESCRIBE": describeOK}, framed(0, rtpOf(96, 1, 0x65, 0x88, 0)))
	f.hangUp = true
	sink := &taken{}
	err := f.open(sink, "rtsp://HOST/a")
	var ended *stream.Ended
	if !errors.As(err, &ended) || !strings.Contains(err.Error(), "connection closed by the server") || len(sink.frames) != 1 {
		t.Errorf("%v, %d frames", err, len(sink.frames))
	}
}

// With TLS, the certificate being one that SSL_CERT_FILE vouches for.
func TestTLS(t *testing.T) {
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	defer web.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: web.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	f := serveAt(t, l, map[string][]string{"DESCRIBE": describeOK}, played())
	sink := &taken{}
	if err := f.open(sink, "rtsps://HOST/a"); err == nil || !strings.Contains(err.Error(), "TEARDOWN") || len(sink.frames) != 40 {
		t.Errorf("%v, %d frames", err, len(sink.frames))
	}
	// It is 127.0.0.1's, not localhost's.
	u, _ := url.Parse("rtsps://localhost:" + strings.TrimPrefix(l.Addr().String(), "127.0.0.1:") + "/a")
	if err := Open(context.Background(), u, &taken{}, stream.Options{}); err == nil || !strings.Contains(err.Error(), "SSL_CERT_FILE") {
		t.Errorf("%v", err)
	}
	t.Run("a front before GStreamer", func(t *testing.T) { tlsFront(t, web.TLS.Certificates[0]) })
}

func TestUDPRefusedIsReadOverTCP(t *testing.T) {
	f := serve(t, map[string][]string{
		"DESCRIBE": describeOK,
		"SETUP":    {"461 Unsupported Transport", "200 OK\nSession: 7\nTransport: RTP/AVP/TCP;interleaved=0-1", "200 OK\nTransport: RTP/AVP/TCP;interleaved=2-3"},
	}, played())
	sink := &taken{}
	if err := f.open(sink, "rtsp+udp://HOST/a"); err == nil || !strings.Contains(err.Error(), "TEARDOWN") {
		t.Fatal(err)
	}
	if len(sink.frames) != 40 || len(sink.notes) != 1 || !strings.Contains(sink.notes[0], "read over TCP") {
		t.Errorf("%d frames, notes %q", len(sink.frames), sink.notes)
	}
}

// A firewall that lets no UDP in: it is read over TCP, where the server can; one
// that has no TCP is silent.
func TestUDPSilentIsReadOverTCP(t *testing.T) {
	silent := "200 OK\nSession: 7\nTransport: RTP/AVP;unicast;client_port=1-2;server_port=6000-6001"
	for _, c := range []struct {
		name    string
		setups  []string
		want    string
		frames  int
		remarks int
	}{
		{
			"TCP is there", []string{silent, silent, "200 OK\nSession: 8\nTransport: RTP/AVP/TCP;interleaved=0-1", "200 OK\nTransport: RTP/AVP/TCP;interleaved=2-3"},
			"TEARDOWN", 40, 1,
		},
		{
			"TCP is refused", []string{silent, silent, "461 Unsupported Transport", silent, silent},
			"no RTP packet came over UDP within 500ms", 0, 2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := serve(t, map[string][]string{"DESCRIBE": describeOK, "SETUP": c.setups}, played())
			u, _ := url.Parse("rtsp+udp://" + f.l.Addr().String() + "/a")
			sink := &taken{}
			err := Open(context.Background(), u, sink, stream.Options{Timeout: 500 * time.Millisecond})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if len(sink.frames) != c.frames || len(sink.notes) != c.remarks || !strings.Contains(sink.notes[0], "no packet came over UDP within 500ms") {
				t.Errorf("%d frames, notes %q", len(sink.frames), sink.notes)
			}
		})
	}
}

func TestKeepAlive(t *testing.T) {
	f := serve(t, map[string][]string{
		"OPTIONS":       {"200 OK\nPublic: DESCRIBE, SETUP, PLAY, GET_PARAMETER"},
		"DESCRIBE":      describeOK,
		"SETUP":         {"200 OK\nSession: 7;timeout=1"},
		"GET_PARAMETER": {"405 Method Not Allowed"},
	}, "")
	u, _ := url.Parse("rtsp://" + f.l.Addr().String() + "/a")
	ctx, cancel := context.WithTimeout(context.Background(), 1800*time.Millisecond)
	defer cancel()
	if err := Open(ctx, u, &taken{}, stream.Options{}); err != nil {
		t.Fatal(err)
	}
	got := f.requests()
	if strings.Count(got, "GET_PARAMETER") != 1 || strings.Count(got, "OPTIONS") < 2 {
		t.Errorf("asked\n%s", got)
	}
}

func TestNotRTSP(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n\r\n": "speaks HTTP, not RTSP",
		"\x16\x03\x01\x02\x00\x01\x00":     "does not speak RTSP",
		"":                                 "no answer within",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, answer)
			time.Sleep(1500 * time.Millisecond)
			_ = c.Close()
		}()
		u, _ := url.Parse("rtsp://" + l.Addr().String() + "/a")
		err = Open(context.Background(), u, &taken{}, stream.Options{Timeout: time.Second})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", answer, err)
		}
		_ = l.Close()
		if err := Open(context.Background(), u, &taken{}, stream.Options{Timeout: time.Second}); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("closed: %v", err)
		}
	}
}
