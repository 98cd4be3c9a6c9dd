package load

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A real server: Go's, of HTTP/1.1 and HTTP/2, in the clear and over TLS.
func TestAskARealServer(t *testing.T) {
	answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/error" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		if n > 0 && n != 200_000 || r.Header.Get("X-Mine") != "yes" {
			t.Errorf("%s with %d bytes, %v", r.Method, n, r.Header)
		}
		_, _ = w.Write(make([]byte, 100_000))
	})
	plain := httptest.NewUnstartedServer(answers)
	plain.Config.Protocols = new(http.Protocols)
	plain.Config.Protocols.SetHTTP1(true)
	plain.Config.Protocols.SetUnencryptedHTTP2(true)
	plain.Start()
	defer plain.Close()
	over := httptest.NewUnstartedServer(answers)
	over.EnableHTTP2 = true
	over.StartTLS()
	defer over.Close()
	for _, base := range []string{plain.URL, over.URL} {
		for _, r := range []Request{{}, {Data: strings.Repeat("x", 200_000)}, {HTTP2: true}, {HTTP2: true, Data: strings.Repeat("x", 200_000)}} {
			for _, path := range []string{"/", "/error"} {
				r.Headers, r.Insecure = []string{"X-Mine: yes"}, true
				p := plan(target(t, base+path, r))
				p.Rate, p.For = 100, 300*time.Millisecond
				got, err := Run(context.Background(), p)
				if err != nil {
					t.Fatalf("%s: %v", base+path, err)
				}
				if failed := got.Done * int64(len(path)/6); got.Done != got.Sent || got.Sent+got.Behind < 28 || len(got.Lost) > 0 || got.Failed != failed {
					t.Errorf("%s, HTTP/2 %v: %d sent, %d answered, %d errors, lost %v", base+path, r.HTTP2, got.Sent, got.Done, got.Failed, got.Lost)
				}
			}
		}
	}
	// A certificate that nobody signed, and a server without HTTP/2.
	if _, err := Run(context.Background(), plan(target(t, over.URL, Request{}))); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	old := httptest.NewUnstartedServer(answers)
	old.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
	old.StartTLS()
	defer old.Close()
	if _, err := Run(context.Background(), plan(target(t, old.URL, Request{HTTP2: true, Insecure: true}))); err == nil || !strings.Contains(err.Error(), "HTTP/2") && !strings.Contains(err.Error(), "application protocol") {
		t.Errorf("a server without HTTP/2: %v", err)
	}
}

// A server that takes the connection and never says anything during the login.
func TestALoginThatHangs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	for _, scheme := range []string{"https", "rediss", "postgres"} {
		_, _ = Run(ctx, plan(target(t, scheme+"://"+l.Addr().String(), Request{})))
	}
	if time.Since(begun) > 3*time.Second {
		t.Errorf("it ended after %v, though it was to end after 0.2 s", time.Since(begun))
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	all := Rates(10, 40_000, 10)
	near := func(want float64) (found bool) {
		for _, r := range all {
			found = found || r > 0.85*want && r < 1.18*want
		}
		return found
	}
	if all[0] != 10 || all[len(all)-1] != 40_000 || !near(125) || !near(250) || !near(500) || len(all) > 18 {
		t.Errorf("%v", all)
	}
	for text, want := range map[string]float64{"p99 < 100ms": 99, "p99.9<1s": 99.9, "p999 < 1s": 99.9, " mean < 5ms": 0, "p50 < 1m": 50} {
		if b, err := ParseBound(text); err != nil || b.Quantile != want {
			t.Errorf("%q: %+v, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "p99", "p99 > 1s", "p0 < 1s", "p99 < 0s", "p99 < fast", "worst < 1s"} {
		if _, err := ParseBound(text); err == nil {
			t.Errorf("%q is a bound", text)
		}
	}
	for text, want := range map[string]int{"1..64": 7, "5": 1, "10..15": 2} {
		if c, err := ParseConns(text); err != nil || len(c) != want {
			t.Errorf("%q: %v, %v", text, c, err)
		}
	}
	for text, want := range map[string]int{"1..64k": 65536, "100": 100, "2k": 2048} {
		if c, err := ParseSizes(text); err != nil || c[len(c)-1] != want {
			t.Errorf("%q: %v, %v", text, c, err)
		}
	}
	for _, text := range []string{"", "0", "5..5", "a..b", "1..1000000"} {
		if _, err := ParseConns(text); err == nil {
			t.Errorf("%q are connections", text)
		}
	}
}

// A service that closes after each answer, with its length or without, keeps up all the same.
func TestAServiceThatCloses(t *testing.T) {
	for _, answer := range []string{"HTTP/1.0 200 OK\r\n\r\nbody", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					_, _ = c.Read(make([]byte, 4096))
					_, _ = c.Write([]byte(answer))
					c.Close()
				}()
			}
		}()
		p := plan(target(t, "http://"+l.Addr().String()+"/", Request{}))
		p.Rate, p.For = 200, 500*time.Millisecond
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if r.Sent+r.Behind != 100 || r.Sent < 90 || r.Done != r.Sent || r.Closed != r.Done || !r.Lossless() || r.Unasked > 0 {
			t.Errorf("%q: %d sent, %d answered, %d closed, lost %v", answer, r.Sent, r.Done, r.Closed, r.Lost)
		}
	}
}
