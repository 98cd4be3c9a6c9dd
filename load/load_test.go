package load

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

const anAnswer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"

func target(t *testing.T, text string, s Request) Target {
	t.Helper()
	out, err := ParseTarget(text, s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func null(t *testing.T, text string, s Request) Target {
	t.Helper()
	n, err := NewNull(target(t, text, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n.Target
}

func plan(to Target) Plan {
	return Plan{Target: to, Rate: 500, Conns: 4, For: time.Second, Timeout: time.Second, Options: SocketOptions{CPU: -1}}
}

// Every request that is due gets its answer, whatever is spoken.
func TestEachRequestIsAnswered(t *testing.T) {
	for _, tt := range []struct {
		url string
		s   Request
	}{
		{"tcp://127.0.0.1:1", Request{Size: 64, Reply: 64}},
		{"tcp://127.0.0.1:1", Request{Size: 300_000, Reply: 70_000}},
		{"udp://127.0.0.1:1", Request{Size: 64, Reply: 64}},
		{"http://127.0.0.1:1/path?q=1", Request{}},
		{"http://127.0.0.1:1/", Request{HTTP2: true}},
		{"http://127.0.0.1:1/", Request{HTTP2: true, Data: strings.Repeat("x", 300_000)}},
		{"https://127.0.0.1:1/", Request{}},
		{"https://127.0.0.1:1/", Request{HTTP2: true}},
		{"https://127.0.0.1:1/", Request{Data: strings.Repeat("x", 300_000)}},
		{"redis://:secret@127.0.0.1:1/2", Request{Data: "GET key"}},
		{"rediss://127.0.0.1:1", Request{}},
		{"postgres://u:p@127.0.0.1:1/d", Request{}},
		{"dns://127.0.0.1:1/example.org?type=AAAA", Request{}},
	} {
		p := plan(null(t, tt.url, tt.s))
		p.Rate, p.For = 200, 300*time.Millisecond
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatalf("%s: %v", tt.url, err)
		}
		if r.Sent+r.Behind != 60 || r.Done != r.Sent || !r.Lossless() || r.FromSent.TotalCount() != r.Done {
			t.Errorf("%s %+v: %d sent, %d answered, lost %v", tt.url, tt.s, r.Sent, r.Done, r.Lost)
		}
	}
}

// A message in two writes waits for a delayed acknowledgement, 40 ms, unless Nagle's algorithm is off.
func TestWritesOfOneMessage(t *testing.T) {
	to := null(t, "tcp://127.0.0.1:1", Request{Size: 100, Reply: 10, Split: []int{10, 90}})
	for _, noDelay := range []bool{false, true} {
		p := plan(to)
		p.Rate, p.Options.NoDelay = 20, &noDelay
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if p50 := time.Duration(r.FromSent.ValueAtQuantile(50)); (p50 > 35*time.Millisecond) == noDelay || r.Done != r.Sent || r.Sent+r.Behind != 20 {
			t.Errorf("TCP_NODELAY %v: p50 %v of %d", noDelay, p50, r.Done)
		}
	}
}

// A service that stands still for half a second is late for all that was due meanwhile, not for one
// request of each connection.
func TestAStandstillIsNotHidden(t *testing.T) {
	begun := time.Now()
	address := echoAfter(t, func() {
		if d := time.Since(begun); d > 300*time.Millisecond && d < 800*time.Millisecond {
			time.Sleep(800*time.Millisecond - d)
		}
	})
	r, err := Run(context.Background(), plan(target(t, "tcp://"+address, Request{Size: 64, Reply: 64})))
	if err != nil {
		t.Fatal(err)
	}
	if due, sent := r.FromDue.ValueAtQuantile(75), r.FromSent.ValueAtQuantile(75); due < 100e6 || sent > 100e6 {
		t.Errorf("p75 %v from when it was due, %v from when it was sent: want 0.25 s, and next to nothing", time.Duration(due), time.Duration(sent))
	}
}

func TestKindsOfFailures(t *testing.T) {
	serve := func(answer func(net.Conn)) Target {
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
				go answer(c)
			}
		}()
		return target(t, "http://"+l.Addr().String()+"/", Request{})
	}
	await := func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) }
	for _, tt := range []struct {
		name   string
		answer func(net.Conn)
		kind   Kind
	}{
		{"closes", func(c net.Conn) { await(c); c.Close() }, Closed},
		{"resets", func(c net.Conn) { await(c); _ = c.(*net.TCPConn).SetLinger(0); c.Close() }, Reset},
		{"says nothing", func(c net.Conn) { await(c); time.Sleep(5 * time.Second); c.Close() }, NoAnswer},
		{"speaks another protocol", func(c net.Conn) { await(c); _, _ = c.Write([]byte("-ERR unknown command\r\n")); await(c) }, NoProtocol},
	} {
		p := plan(serve(tt.answer))
		p.Rate, p.Timeout = 20, 100*time.Millisecond
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if r.Done != 0 || r.Lost[tt.kind] == 0 || len(r.Lost) != 1 || r.FromSent.TotalCount() != 0 {
			t.Errorf("%s: %d answered, lost %v", tt.name, r.Done, r.Lost)
		}
	}
	// An answer in two halves, one after the other, is one; one too many is counted apart.
	r, err := Run(context.Background(), plan(serve(func(c net.Conn) {
		for {
			await(c)
			if _, err := c.Write([]byte(anAnswer[:20])); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
			_, _ = c.Write([]byte(anAnswer[20:] + anAnswer))
		}
	})))
	if err != nil || r.Sent+r.Behind != 500 || r.Done != r.Sent || r.Unasked < r.Done-10 || !r.Lossless() {
		t.Errorf("twice: %d sent, %d answered, %d unasked, lost %v, %v", r.Sent, r.Done, r.Unasked, r.Lost, err)
	}
	_, err = Run(context.Background(), plan(target(t, "tcp://127.0.0.1:1", Request{Size: 1, Reply: 1})))
	if err == nil || !strings.Contains(err.Error(), string(Refused)) {
		t.Errorf("nothing listens: %v", err)
	}
}

func TestTargets(t *testing.T) {
	for text, want := range map[string]string{
		"tcp://127.0.0.1": "has no port", "ftp://host:1": "unknown scheme", "host:80": "not a target", "tcp://h:99999": "not a port",
	} {
		to, err := ParseTarget(text, Request{Size: 1, Reply: 1})
		if err == nil {
			err = to.check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	to := target(t, "http://u:p@h/x", Request{})
	request := string(to.Protocol.New().Ask(0)[0])
	if to.Address != "h:80" || to.Name != "http://h/x" || !strings.Contains(request, "Authorization: Basic dTpw") {
		t.Errorf("%+v %s", to, request)
	}
}

// A service that answers 50 per second answers 50 per second, whatever it is asked for.
func TestRateOfAnOverload(t *testing.T) {
	address := echoAfter(t, func() {
		time.Sleep(20 * time.Millisecond)
	})
	p := plan(target(t, "tcp://"+address, Request{Size: 64, Reply: 64}))
	p.Conns, p.Rate, p.Warm = 1, 5000, 200*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Rate() < 20 || r.Rate() > 51 || r.Behind < 4000 {
		t.Errorf("%g answers per second, %d not sent", r.Rate(), r.Behind)
	}
}
