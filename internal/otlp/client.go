package otlp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"snag/internal/post"
)

// Client posts to one endpoint.
type Client struct {
	base *url.URL
	*post.Client
	// Total is how long one request is repeated.
	Total time.Duration
	first time.Duration // the first pause between two tries
}

// New makes a client of an endpoint, as http://127.0.0.1:4318: /v1/logs and /v1/metrics are put behind it.
func New(endpoint string, headers http.Header) (*Client, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("no http:// or https:// URL: give the collector's OTLP/HTTP endpoint, as http://127.0.0.1:4318")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("a URL with a user, a query or a fragment: give only scheme, host, port and path; --otlp-header @FILE has the credentials")
	case strings.HasSuffix(u.Path, "/v1/logs") || strings.HasSuffix(u.Path, "/v1/metrics"):
		return nil, fmt.Errorf("%s: leave out %s, which snag appends", u, u.Path[strings.LastIndex(u.Path, "/v1/"):])
	}
	return &Client{base: u, Client: post.New(headers), Total: 30 * time.Second, first: time.Second}, nil
}

// Logs sends log records, again where that may help, for at most Total.
func (c *Client) Logs(ctx context.Context, r Resource, logs []Log) error {
	body, err := EncodeLogs(r, logs)
	if err != nil {
		return fmt.Errorf("encode log records: %w", err)
	}
	return c.deliver(ctx, "/v1/logs", body)
}

// Metrics sends values once: the next ones replace them.
func (c *Client) Metrics(ctx context.Context, r Resource, all []Metric, since, at time.Time) error {
	body, err := EncodeMetrics(r, all, since, at)
	if err != nil {
		return fmt.Errorf("encode metrics: %w", err)
	}
	return c.send(ctx, "/v1/metrics", body)
}

// Endpoint is where it sends.
func (c *Client) Endpoint() string { return c.base.String() }

// send posts once.
func (c *Client) send(ctx context.Context, path string, body []byte) error {
	to := c.base.JoinPath(path).String()
	text, err := c.Post(ctx, to, http.Header{"Content-Type": {"application/json"}}, body)
	if err != nil {
		return err
	}
	if n, why := rejected(text); n > 0 {
		return &post.Failed{To: to, Why: fmt.Sprintf("it took all but %d: %s", n, c.Clean(why)), Rejected: n}
	}
	return nil
}

// deliver posts again where that may help, for at most Total.
func (c *Client) deliver(ctx context.Context, path string, body []byte) error {
	began := time.Now()
	for n := 1; ; n++ {
		err := c.send(ctx, path, body)
		var f *post.Failed
		if !errors.As(err, &f) || !f.Again {
			return err
		}
		wait := post.Pause(n, c.first, f.After, rand.Float64())
		if left := c.Total - time.Since(began); wait > left {
			return fmt.Errorf("%w; given up after %d tries in %s", err, n, time.Since(began).Round(time.Millisecond))
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// rejected is how much of a request a collector did not take, though it answered 200 (partial success).
func rejected(text []byte) (n int64, why string) {
	var a struct {
		Partial struct {
			Logs   json.RawMessage `json:"rejectedLogRecords"`
			Points json.RawMessage `json:"rejectedDataPoints"`
			Why    string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(text, &a) != nil {
		return 0, "" // an empty answer, or protobuf
	}
	for _, raw := range []json.RawMessage{a.Partial.Logs, a.Partial.Points} {
		one, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
		if err == nil && one > 0 {
			n += one
		}
	}
	return n, a.Partial.Why
}
