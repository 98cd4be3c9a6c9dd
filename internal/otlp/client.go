package otlp

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"snag/internal/shown"
)

// Client posts to one endpoint.
type Client struct {
	base    *url.URL
	headers http.Header
	http    http.Client
	// Timeout is that of one request.
	Timeout time.Duration
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
	return &Client{base: u, headers: headers, Timeout: 10 * time.Second, Total: 30 * time.Second, first: time.Second, http: http.Client{
		// The answer goes where the user said, and nowhere else: no proxy of the environment, no redirect.
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
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
	return c.post(ctx, "/v1/metrics", body)
}

// Endpoint is where it sends.
func (c *Client) Endpoint() string { return c.base.String() }

const (
	mostAnswer = 64 << 10 // bytes of an answer that are read
	mostShown  = 200      // bytes of it in an error
)

// post posts once.
func (c *Client) post(ctx context.Context, path string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	to := c.base.JoinPath(path).String()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("post to %s: %w", to, err)
	}
	for name, values := range c.headers {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		var with *url.Error
		if errors.As(err, &with) {
			err = with.Err
		}
		var cert *tls.CertificateVerificationError
		return &Failed{To: to, Why: c.clean(err.Error()), Again: !errors.As(err, &cert)}
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, mostAnswer)) // an answer that is cut off is still an answer
	return c.answered(to, resp, text)
}

// answered is what an answer means: nil that all was taken.
func (c *Client) answered(to string, resp *http.Response, text []byte) error {
	code := resp.StatusCode
	if code/100 == 2 {
		if n, why := rejected(text); n > 0 {
			return &Failed{To: to, Why: fmt.Sprintf("it took all but %d: %s", n, c.clean(why)), Rejected: n}
		}
		return nil
	}
	why := c.clean(resp.Status)
	switch {
	case code/100 == 3:
		why += ": redirects are not followed; give the final URL"
	case len(bytes.TrimSpace(text)) > 0:
		why += ": " + c.clean(string(text))
	}
	f := &Failed{To: to, Why: why}
	switch code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.Again, f.After = true, retryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	return f
}

// clean makes a stranger's text short and harmless, without our secrets where it repeats them.
func (c *Client) clean(text string) string {
	for _, values := range c.headers {
		for _, v := range values {
			text = strings.ReplaceAll(text, v, "[header]")
		}
	}
	text = shown.Text(strings.Join(strings.Fields(text), " "))
	if len(text) > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "") + "…"
	}
	return text
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
