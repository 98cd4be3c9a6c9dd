package web

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A handler may work longer than a request has to come: only who hangs up ends its context.
func TestASlowAnswerIsNotCancelled(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		if r.Method == http.MethodPost || r.URL.Path == "/long" {
			Takes(w, time.Minute)
		}
		select {
		case <-r.Context().Done():
			t.Errorf("%s %s: cancelled", r.Method, r.URL)
		case <-time.After(400 * time.Millisecond):
		}
		_, _ = io.WriteString(w, "done")
	}), timeouts{header: time.Second, request: 100 * time.Millisecond, answer: 200 * time.Millisecond, idle: time.Second})
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	at := "http://" + l.Addr().String()
	for _, ask := range []func() (*http.Response, error){
		func() (*http.Response, error) { return http.Get(at + "/long") },
		func() (*http.Response, error) { return http.Post(at, "text/plain", strings.NewReader("x")) },
	} {
		resp, err := ask()
		if err != nil {
			t.Error(err)
			continue
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(b) != "done" {
			t.Errorf("%q, %v", b, err)
		}
	}
	if resp, err := http.Get(at + "/short"); err == nil { // it does not say that it takes longer
		resp.Body.Close()
		t.Error("an answer came after its time")
	}
}
