package otlp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

type noted struct {
	mu   sync.Mutex
	said []string
}

func (n *noted) note(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, text)
}

func (n *noted) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.said...)
}

func numbered(i int) Log {
	l := begins
	l.Body = fmt.Sprint(i)
	return l
}

func TestASenderSendsBoth(t *testing.T) {
	t.Parallel()
	c := collect(t)
	var n noted
	s := &Sender{Client: to(t, c.URL), Resource: sender, Note: n.note, Every: 10 * time.Millisecond, Snapshot: func() []Metric { return []Metric{{Name: "snag_verdict_hurt", Value: 1}} }}
	end := s.Start()
	s.Add(begins)
	until(t, "a log record and three times metrics", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.logs) == 1 && len(c.metrics) >= 3
	})
	end(time.Second)
	if len(n.all()) > 0 || len(c.wrong) > 0 || s.Counts() != (Counts{}) {
		t.Errorf("%q, %q, %+v", n.all(), c.wrong, s.Counts())
	}
}

// What is added while the last request is cut off is sent at the end.
func TestTheEndSendsWhatIsLeft(t *testing.T) {
	t.Parallel()
	c := collect(t, status(503, "Retry-After", "5"))
	var n noted
	s := &Sender{Client: to(t, c.URL), Resource: sender, Note: n.note}
	end := s.Start()
	s.Add(numbered(1))
	until(t, "the first request", func() bool { return c.requests() == 1 })
	s.Add(numbered(2))
	end(5 * time.Second)
	if c.records() != 2 || s.Counts().Dropped != 0 {
		t.Errorf("%d records, %+v", c.records(), s.Counts())
	}
}

// A collector that never answers stops nobody, and what it costs is bounded and counted.
func TestACollectorThatNeverAnswers(t *testing.T) {
	t.Parallel()
	stuck := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck }))
	defer h.Close()
	defer close(stuck)
	var n noted
	s := &Sender{Client: to(t, h.URL), Resource: sender, Note: n.note}
	end := s.Start()
	began := time.Now()
	for i := range 1000 {
		s.Add(numbered(i))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("1,000 records took %s", took)
	}
	if len(s.queue) > mostQueued {
		t.Errorf("%d are queued", len(s.queue))
	}
	end(10 * time.Millisecond)
	if got := s.Counts().Dropped; got != 1000 {
		t.Errorf("%d of 1,000 are counted as dropped", got)
	}
	if said := n.all(); len(said) != 1 || !strings.Contains(said[0], "did not take the last log records") {
		t.Errorf("%q", said)
	}
}

// A dead endpoint is reported once, and its return.
func TestADeadEndpointIsReportedOnce(t *testing.T) {
	t.Parallel()
	c := collect(t, status(404), status(404), status(404), status(404), status(404))
	var n noted
	s := &Sender{Client: to(t, c.URL), Resource: sender, Note: n.note, Every: 10 * time.Millisecond, Snapshot: func() []Metric { return []Metric{{Name: "a"}} }}
	end := s.Start()
	until(t, "the return", func() bool { return len(n.all()) >= 2 })
	end(time.Second)
	said := n.all()
	if len(said) != 2 || !strings.Contains(said[0], "404") || !strings.Contains(said[1], "works again") || s.Counts().Failed != 5 {
		t.Errorf("%q, %+v", said, s.Counts())
	}
}

// The oldest record goes first, and metrics pause as long as the collector asks for.
func TestWhatIsDroppedAndWhatPauses(t *testing.T) {
	t.Parallel()
	s := &Sender{Note: func(string) {}}
	for i := range mostQueued + 3 {
		s.Add(numbered(i))
	}
	if s.queue[0].Body != "3" || len(s.queue) != mostQueued || s.Counts().Dropped != 3 {
		t.Errorf("%s, %d, %+v", s.queue[0].Body, len(s.queue), s.Counts())
	}
	c := collect(t, status(429, "Retry-After", "60"))
	s = &Sender{Client: to(t, c.URL), Resource: sender, Note: func(string) {}, Snapshot: func() []Metric { return nil }, down: map[string]bool{}}
	s.sample(t.Context(), at)
	s.sample(t.Context(), at.Add(59*time.Second))
	s.sample(t.Context(), at.Add(60*time.Second))
	if c.requests() != 2 || len(c.metrics) != 1 {
		t.Errorf("%d requests, %d times metrics", c.requests(), len(c.metrics))
	}
}
