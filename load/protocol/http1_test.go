package protocol

import (
	"strings"
	"testing"
)

// However an answer is cut into reads, it ends where it ends.
func TestAnswersOfHTTP(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text   string
		done, failed int
	}{
		{"with a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 1, 0},
		{"without a body", "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 2, 0},
		{"empty", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", 1, 0},
		{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n0\r\nTrailer: 1\r\n\r\n", 1, 0},
		{"interim", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 1, 0},
		{"errors", "HTTP/1.1 503 Away\r\nContent-Length: 2\r\n\r\nnoHTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\nHTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n", 3, 2},
		{"unfinished", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", 0, 0},
	} {
		for step := 1; step <= len(tt.text); step++ {
			r := HTTP1{}.New()
			done, failed := 0, 0
			for at := 0; at < len(tt.text); at += step {
				got, err := r.Read([]byte(tt.text[at:min(at+step, len(tt.text))]))
				if err != nil {
					t.Fatalf("%s by %d: %v", tt.name, step, err)
				}
				done, failed = done+got.Done, failed+got.Failed
			}
			if done != tt.done || failed != tt.failed {
				t.Errorf("%s by %d bytes: %d done, %d failed", tt.name, step, done, failed)
			}
		}
	}
}

// After some answers the connection ends, and some end with it.
func TestAnswersThatClose(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text      string
		got, ends Got
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", Got{Done: 1}, Got{}},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: Close\r\n\r\nx", Got{Done: 1, Last: true}, Got{}},
		{"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", Got{Done: 1, Last: true}, Got{}},
		{"HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\nx", Got{Done: 1}, Got{}},
		{"HTTP/1.0 503 Away\r\n\r\nall of this", Got{}, Got{Done: 1, Failed: 1, Last: true}},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", Got{}, Got{}},
	} {
		r := HTTP1{}.New().(*response)
		got, err := r.Read([]byte(tt.text))
		if ends := r.End(); err != nil || got != tt.got || ends != tt.ends {
			t.Errorf("%q: %+v, at its end %+v, %v", tt.text, got, ends, err)
		}
	}
}

func TestWhatIsNoHTTP(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SSH-2.0-OpenSSH_9.2p1 Debian\r\n":                                "not an answer of HTTP/1.1",
		"HTTP/1.1 abc\r\n\r\n":                                            "has no status",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n":                   "is not a length",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n":     "not a chunk size",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", mostHead) + "\r\n": "longer than",
		strings.Repeat("z", mostHead+2):                                   "longer than",
	} {
		r := HTTP1{}.New()
		var err error
		for i := 0; i < len(text) && err == nil; i += 100 {
			_, err = r.Read([]byte(text[i:min(i+100, len(text))]))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func FuzzAnswersOfHTTP(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), 3)
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		if step < 1 {
			return
		}
		r := HTTP1{}.New().(*response)
		for at := 0; at < len(b); at += step {
			if _, err := r.Read(b[at:min(at+step, len(b))]); err != nil {
				return
			}
			if len(r.line) > mostHead+step {
				t.Fatalf("it holds %d bytes of a line", len(r.line))
			}
		}
	})
}
