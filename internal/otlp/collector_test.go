package otlp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"snag/internal/post"
)

// collector is one that reads what it gets with the real protobuf types, strictly. LogsData and MetricsData have the
// fields of the two export requests, whose package needs a gateway to gRPC that nothing else does.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	answers []func(http.ResponseWriter) // to the next requests; none: 200
	headers []http.Header
	logs    []*logs.LogsData
	metrics []*metrics.MetricsData
	wrong   []string
}

func collect(t *testing.T, answers ...func(http.ResponseWriter)) *collector {
	t.Helper()
	c := &collector{answers: answers}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		c.wrong = append(c.wrong, r.Method+" "+r.Header.Get("Content-Type"))
	}
	c.headers = append(c.headers, r.Header)
	if len(c.answers) > 0 {
		answer := c.answers[0]
		c.answers = c.answers[1:]
		if answer != nil {
			answer(w)
			return
		}
	}
	switch r.URL.Path {
	case "/v1/logs":
		var d logs.LogsData
		if err = protojson.Unmarshal(body, &d); err == nil {
			c.logs = append(c.logs, &d)
		}
	case "/v1/metrics":
		var d metrics.MetricsData
		if err = protojson.Unmarshal(body, &d); err == nil {
			c.metrics = append(c.metrics, &d)
		}
	default:
		c.wrong = append(c.wrong, r.URL.Path)
	}
	if err != nil {
		c.wrong = append(c.wrong, err.Error()+": "+string(body))
	}
	io.WriteString(w, `{"partialSuccess":{}}`)
}

func (c *collector) records() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.logs {
		n += len(d.ResourceLogs[0].ScopeLogs[0].LogRecords)
	}
	return n
}

func (c *collector) requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.headers)
}

func status(code int, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, `{"code":1,"message":"not now: Bearer s3cret"}`)
	}
}

// to is a client that waits little.
func to(t *testing.T, url string, headers ...string) *Client {
	t.Helper()
	h, err := post.Headers(headers)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(url, h)
	if err != nil {
		t.Fatal(err)
	}
	c.first = 5 * time.Millisecond
	return c
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("%s: not within 20 s", what)
}
