package protocol

import (
	"bytes"
	"strings"
	"testing"
)

// However answers are cut into reads, they end where they end.
func TestAnswersInPieces(t *testing.T) {
	t.Parallel()
	pg, err := NewPostgres("postgres://u@h/d", "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	row := string(message('T', make([]byte, 30))) + string(message('D', make([]byte, 700)))
	ready := string(message('Z', []byte{'I'}))
	for _, tt := range []struct {
		name         string
		p            Protocol
		text         string
		done, failed int
	}{
		{"redis", &Redis{}, "+OK\r\n:1\r\n$3\r\na\r\n\r\n$-1\r\n$0\r\n\r\n*0\r\n*-1\r\n_\r\n#t\r\n,1.5\r\n", 10, 0},
		{"redis aggregates", &Redis{}, "*2\r\n*2\r\n$1\r\na\r\n:1\r\n*1\r\n+x\r\n%1\r\n+k\r\n*1\r\n:1\r\n|1\r\n+k\r\n+v\r\n:1\r\n", 3, 0},
		{"redis errors", &Redis{}, "-ERR no\r\n*2\r\n-ERR one of them\r\n:1\r\n!5\r\nERR x\r\n", 3, 2},
		{"redis unfinished", &Redis{}, "*2\r\n:1\r\n$5\r\nabc", 0, 0},
		{"postgres", pg, row + string(message('C', []byte("SELECT 1\x00"))) + ready + row + ready, 2, 0},
		{"postgres error", pg, string(message('E', []byte("SERROR\x00\x00"))) + ready + ready, 2, 1},
		{"postgres unfinished", pg, row + ready[:4], 0, 0},
	} {
		for step := 1; step <= len(tt.text); step++ {
			c, done, failed := tt.p.New(), 0, 0
			for at := 0; at < len(tt.text); at += step {
				got, err := c.Read([]byte(tt.text[at:min(at+step, len(tt.text))]))
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

func TestWhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	pg, _ := NewPostgres("postgres://u@h/d", "SELECT 1")
	dns, err := NewDNS("example.org", "a")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		p    Protocol
		text string
		want string
	}{
		{&Redis{}, "HTTP/1.1 400 Bad Request\r\n", "not a Redis answer"},
		{&Redis{}, "$x\r\n", "not a size"},
		{&Redis{}, strings.Repeat("*1\r\n", mostDepth+1), "nested deeper"},
		{&Redis{}, "+" + strings.Repeat("x", mostLine+1), "longer than"},
		{pg, "HTTP/1.1 400", "not a message of PostgreSQL"},
		{pg, string(message('G', nil)), "COPY"},
		{NewHTTP2(nil, nil), "HTTP/1.1 400 Bad Request\r\n", "frame of HTTP/2"},
		{NewHTTP2(nil, nil), string(frame(frameHeaders, flagPadded, 1, nil)), "too short"},
		{NewHTTP2(nil, nil), string(frame(frameWindow, 0, 0, []byte{1})), "wrong size"},
		{NewHTTP2(nil, nil), string(frame(frameHeaders, flagEndHeaders, 1, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})), "cannot be decoded"},
		{dns, "no DNS", "not a DNS answer"},
	} {
		_, err := tt.p.New().Read([]byte(tt.text))
		first, second, _ := strings.Cut(tt.want, "|")
		if err == nil || !strings.Contains(err.Error(), first) && (second == "" || !strings.Contains(err.Error(), second)) {
			t.Errorf("%.30q: %v, want %q", tt.text, err, tt.want)
		}
	}
	for _, kind := range []string{"", "ANY"} {
		if _, err := NewDNS("example.org", kind); err == nil {
			t.Errorf("a DNS record of type %q", kind)
		}
	}
	if _, err := NewDNS(strings.Repeat("a", 300), "A"); err == nil {
		t.Error("a name of 300 bytes")
	}
}

// A body larger than the windows is sent as they open, also when SETTINGS change them meanwhile.
func TestWindowsOfHTTP2(t *testing.T) {
	t.Parallel()
	const size = 200_000
	p := NewHTTP2([][2]string{{":method", "POST"}}, make([]byte, size))
	c := p.New().(*http2Client)
	sent, ended := 0, false
	count := func(b []byte) {
		f := frames{each: func(kind, flags byte, _ uint32, payload []byte) error {
			if kind == frameData {
				sent += len(payload)
				ended = ended || flags&flagEndStream != 0
			}
			return nil
		}}
		if err := f.read(bytes.TrimPrefix(b, []byte(preface))); err != nil {
			t.Fatal(err)
		}
	}
	give := func(b []byte) {
		if _, err := c.Read(b); err != nil {
			t.Fatal(err)
		}
		count(c.Reply())
	}
	give(frame(frameSettings, 0, 0, nil))
	if b := c.Reply(); len(b) > 0 {
		t.Fatalf("%q is said before the preface", b)
	}
	count(c.Ask(0)[0])
	if sent != firstWindow || ended {
		t.Fatalf("%d bytes before any window was opened", sent)
	}
	give(windowBy(0, 50_000))
	if sent != firstWindow {
		t.Fatalf("%d bytes with a window of the connection alone", sent)
	}
	give(frame(frameSettings, 0, 0, setting(settingWindow, firstWindow+20_000)))
	if sent != firstWindow+20_000 {
		t.Fatalf("%d bytes after SETTINGS of 20,000 more", sent)
	}
	give(append(windowBy(1, size), windowBy(0, size)...))
	if sent != size || !ended {
		t.Fatalf("%d of %d bytes", sent, size)
	}
	got, err := c.Read(append(frame(frameHeaders, flagEndHeaders, 1, []byte{0x88}), frame(frameData, flagEndStream, 1, []byte("ok"))...))
	if err != nil || got != (Got{Done: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	// 8c is ":status 404" and 8e is 500 of the static table; a reset is an error.
	for _, b := range [][]byte{{0x8c}, {0x8e}} {
		c.Ask(0)
		got, err := c.Read(frame(frameHeaders, flagEndHeaders|flagEndStream, c.stream, b))
		if want := (Got{Done: 1, Failed: int(b[0]-0x8c) / 2}); err != nil || got != want {
			t.Errorf("status %x: %+v, %v", b, got, err)
		}
	}
	c.Ask(0)
	if got, err := c.Read(frame(frameReset, 0, c.stream, make([]byte, 4))); err != nil || got != (Got{Done: 1, Failed: 1}) {
		t.Errorf("reset: %+v, %v", got, err)
	}
}

// Each protocol's own server answers each request, also in pieces.
func TestServers(t *testing.T) {
	t.Parallel()
	pg, _ := NewPostgres("postgres://u@h/d", "SELECT 1")
	dns, _ := NewDNS("example.org", "AAAA")
	for name, p := range map[string]Protocol{
		"sized":    Sized{Writes: [][]byte{make([]byte, 10), make([]byte, 5)}, Answer: 7},
		"datagram": Sized{Writes: [][]byte{make([]byte, 10)}, Answer: 9, Datagram: true},
		"http1":    HTTP1{Writes: [][]byte{Request("GET", "/", "h", nil, nil)}},
		"head":     HTTP1{Writes: [][]byte{Request("HEAD", "/", "h", nil, nil)}, Head: true},
		"http2":    NewHTTP2([][2]string{{":method", "GET"}}, nil),
		"body":     NewHTTP2([][2]string{{":method", "POST"}}, make([]byte, 300_000)),
		"redis":    &Redis{Writes: [][]byte{Command("PING")}},
		"postgres": pg, "dns": dns,
	} {
		c, s := p.New(), p.Server()
		for i := range int64(5) {
			to := bytes.Join(c.Ask(i), nil)
			done := 0
			for round := 0; len(to) > 0 && round < 100; round++ {
				back := s.Serve(to)
				if to = nil; len(back) > 0 {
					got, err := c.Read(back)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					done += got.Done
				}
				if r, ok := c.(Replier); ok {
					to = r.Reply()
				}
			}
			if done != 1 {
				t.Errorf("%s: request %d has %d answers", name, i, done)
			}
		}
	}
}

// An answer to an earlier datagram is not one to the last.
func TestStaleDatagrams(t *testing.T) {
	t.Parallel()
	dns, _ := NewDNS("example.org", "A")
	for name, p := range map[string]Protocol{"datagram": Sized{Writes: [][]byte{make([]byte, 10)}, Answer: 10, Datagram: true}, "dns": dns} {
		c, s := p.New(), p.Server()
		first := s.Serve(bytes.Clone(c.Ask(1)[0]))
		second := s.Serve(bytes.Clone(c.Ask(2)[0]))
		if got, err := c.Read(first); err != nil || got != (Got{Stale: 1}) {
			t.Errorf("%s: the first answer: %+v, %v", name, got, err)
		}
		if got, err := c.Read(second); err != nil || got != (Got{Done: 1}) {
			t.Errorf("%s: the second answer: %+v, %v", name, got, err)
		}
	}
}

func FuzzConversations(f *testing.F) {
	pg, err := NewPostgres("postgres://u@h/d", "SELECT 1")
	if err != nil {
		f.Fatal(err)
	}
	all := []Protocol{NewHTTP2([][2]string{{":method", "GET"}}, make([]byte, 100_000)), &Redis{}, pg}
	f.Add([]byte("*2\r\n+a\r\n$1\r\nx\r\n"), 3)
	f.Add(frame(frameSettings, 0, 0, setting(settingWindow, 5)), 4)
	f.Add(append(frame(frameGoAway, 0, 0, []byte{0, 0, 0, 1, 0, 0, 0, 0}), frame(frameReset, 0, 1, make([]byte, 4))...), 7)
	f.Add(message('Z', []byte{'I'}), 2)
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		if step < 1 {
			return
		}
		for _, p := range all {
			c := p.New()
			c.Ask(0)
			if _, several := c.(Many); several {
				c.Ask(1)
			}
			for at := 0; at < len(b); at += step {
				if _, err := c.Read(b[at:min(at+step, len(b))]); err != nil {
					break
				}
			}
		}
	})
}
