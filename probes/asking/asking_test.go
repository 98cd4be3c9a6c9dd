package asking

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// seen are the requests of a server, and how many of its connections were open at once.
type seen struct {
	mu       sync.Mutex
	requests []time.Time
	peers    map[string]bool
}

func serve(t *testing.T, answer func(w http.ResponseWriter)) (*seen, *url.URL) {
	t.Helper()
	s := &seen{peers: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, time.Now())
		s.peers[r.RemoteAddr] = true
		s.mu.Unlock()
		answer(w)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return s, u
}

// Each is asked over one connection, at most five times per second, and the two take turns; an error is
// one thing, and no answer another.
func TestBothAreAskedInTurn(t *testing.T) {
	t.Parallel()
	a, urlA := serve(t, func(http.ResponseWriter) {})
	b, urlB := serve(t, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	ticks := 0
	of := Both(t.Context(), urlA, urlB, 3*time.Second, func(time.Duration) { ticks++ })
	for i, s := range []*seen{a, b} {
		if n := len(of[i]); n < 5 || n > 3*Rate+1 || len(s.requests) > 3*Rate+1 {
			t.Errorf("%d: %d answers, %d requests", i, n, len(s.requests))
		}
		if len(s.peers) != 1 {
			t.Errorf("%d: %d connections", i, len(s.peers))
		}
		for _, x := range of[i] {
			if x.Failed() != (i == 1) || x.Status != []int{200, 503}[i] || x.Took <= 0 {
				t.Errorf("%d: %+v", i, x)
			}
		}
	}
	if ticks < 2 {
		t.Errorf("told %d times how much time is left", ticks)
	}
}

// A server that takes long is not asked meanwhile, nor more often afterwards, and what the other does is its
// own.
func TestNobodyIsAskedBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	var first sync.Once
	slow, urlA := serve(t, func(http.ResponseWriter) { first.Do(func() { time.Sleep(1500 * time.Millisecond) }) })
	_, urlB := serve(t, func(http.ResponseWriter) {})
	of := Both(t.Context(), urlA, urlB, 3*time.Second, func(time.Duration) {})
	if len(slow.requests) > 3*Rate*2/3 || len(of[0]) < 2 || len(of[1]) < 5 {
		t.Errorf("%d requests to the slow one, %d answers; %d of the other", len(slow.requests), len(of[0]), len(of[1]))
	}
}

// Why nobody answers is said without the URL, which may hold credentials.
func TestReasons(t *testing.T) {
	t.Parallel()
	u, err := url.Parse("http://me:hidden@127.0.0.1:1/?key=hidden")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for _, x := range Both(ctx, u, u, time.Second, func(time.Duration) {})[0] {
		if x.Status != 0 || !x.Failed() || !strings.Contains(x.Err, "connection refused") || strings.Contains(x.Err, "hidden") {
			t.Errorf("%+v", x)
		}
	}
}
