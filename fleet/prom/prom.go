// Package prom asks a store through Prometheus' HTTP API (prometheus.io/docs/prometheus/latest/querying/api), which
// Prometheus, Thanos, Mimir and others have.
package prom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"snag/internal/shown"
)

// Client asks one store.
type Client struct {
	base    *url.URL
	headers http.Header
	http    http.Client
}

// Sample is one series at the time that was asked for.
type Sample struct {
	Labels map[string]string
	Value  float64
	At     time.Time
}

// Answer is what a store has. Warnings say what is missing from it, as when a part of the store did not answer.
type Answer struct {
	Samples  []Sample
	Warnings []string
}

// Series is one series over time.
type Series struct {
	Labels map[string]string
	Points []Point // oldest first
}

// Point is a value of a series.
type Point struct {
	At    int64 // ms since the epoch
	Value float64
}

// Range is what a store has of a span of time.
type Range struct {
	Series   []Series
	Warnings []string
}

// New makes a client of a store, as http://127.0.0.1:9090: /api/v1/query is put behind it.
func New(store string, headers http.Header) (*Client, error) {
	u, err := url.Parse(store)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("no http:// or https:// URL: give the store's, as http://127.0.0.1:9090")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a URL with a user, a query or a fragment: give only scheme, host, port and path; --fleet-header @FILE has the credentials")
	case strings.Contains(u.Path, "/api/v1"):
		return nil, errors.New("a URL with /api/v1, which snag appends: leave it out")
	}
	return &Client{base: u, headers: headers, http: http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Query evaluates an expression at a time. It reads the answer as it comes.
func (c *Client) Query(ctx context.Context, expression string, at time.Time) (Answer, error) {
	x, err := c.ask(ctx, "/api/v1/query", "vector", url.Values{"query": {expression}, "time": {seconds(at)}})
	return x.out, err
}

// QueryRange evaluates an expression at each step from a time to another.
func (c *Client) QueryRange(ctx context.Context, expression string, from, to time.Time, step time.Duration) (Range, error) {
	x, err := c.ask(ctx, "/api/v1/query_range", "matrix", url.Values{
		"query": {expression}, "start": {seconds(from)}, "end": {seconds(to)}, "step": {strconv.FormatFloat(step.Seconds(), 'f', 3, 64)},
	})
	return Range{x.series, x.out.Warnings}, err
}

// seconds is a time as the API has it.
func seconds(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }

// ask sends a query and takes its answer apart, which is to be of this kind.
func (c *Client) ask(ctx context.Context, path, kind string, form url.Values) (reading, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath(path).String(), strings.NewReader(form.Encode()))
	if err != nil {
		return reading{}, fmt.Errorf("ask %s: %w", c.base, err)
	}
	for name, values := range c.headers {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.http.Do(req)
	if err != nil {
		var with *url.Error
		if errors.As(err, &with) {
			err = with.Err
		}
		return reading{}, fmt.Errorf("ask %s: %w", c.base, err)
	}
	defer resp.Body.Close()
	x, err := decode(&limited{resp.Body, mostAnswer}, kind)
	switch {
	case err == nil:
		return x, nil
	case resp.StatusCode/100 == 3:
		return reading{}, fmt.Errorf("ask %s: it redirects: give the final URL", c.base)
	case resp.StatusCode/100 != 2 && !errors.As(err, new(*refusal)):
		return reading{}, fmt.Errorf("ask %s: %s: is this a Prometheus, Thanos or Mimir?", c.base, resp.Status)
	}
	return reading{}, fmt.Errorf("ask %s: %w", c.base, err)
}

// refusal is an error that the store reports itself.
type refusal struct{ kind, text string }

func (r *refusal) Error() string {
	return "it refuses the query: " + shown.Cut(shown.Text(r.kind+": "+r.text), 200)
}
