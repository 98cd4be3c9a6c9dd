// Package prom asks a store through Prometheus' HTTP API (prometheus.io/docs/prometheus/latest/querying/api), which
// Prometheus, Thanos, Mimir and others have.
package prom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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

// mostAnswer is how long an answer is at most, in bytes: a thousand hosts of 3,000 series have a hundredth of it.
const mostAnswer = 512 << 20

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
	form := url.Values{"query": {expression}, "time": {strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath("/api/v1/query").String(), strings.NewReader(form.Encode()))
	if err != nil {
		return Answer{}, fmt.Errorf("ask %s: %w", c.base, err)
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
		return Answer{}, fmt.Errorf("ask %s: %w", c.base, err)
	}
	defer resp.Body.Close()
	a, err := decode(io.LimitReader(resp.Body, mostAnswer))
	switch {
	case err == nil:
		return a, nil
	case resp.StatusCode/100 == 3:
		return Answer{}, fmt.Errorf("ask %s: it redirects: give the final URL", c.base)
	case resp.StatusCode/100 != 2 && !errors.As(err, new(*refusal)):
		return Answer{}, fmt.Errorf("ask %s: %s: is this a Prometheus, Thanos or Mimir?", c.base, resp.Status)
	}
	return Answer{}, fmt.Errorf("ask %s: %w", c.base, err)
}

// refusal is an error that the store reports itself.
type refusal struct{ kind, text string }

func (r *refusal) Error() string {
	return "it refuses the query: " + shown.Cut(shown.Text(r.kind+": "+r.text), 200)
}

type wire struct {
	Status    string   `json:"status"`
	ErrorType string   `json:"errorType"`
	Error     string   `json:"error"`
	Warnings  []string `json:"warnings"`
	Data      struct {
		Type   string `json:"resultType"`
		Result []struct {
			Metric map[string]string `json:"metric"`
			Value  [2]json.RawMessage
		} `json:"result"`
	} `json:"data"`
}

func decode(r io.Reader) (out Answer, err error) {
	var w wire
	if err := json.NewDecoder(r).Decode(&w); err != nil {
		return out, fmt.Errorf("its answer can't be read: %w", err)
	}
	switch {
	case w.Status == "error":
		return out, &refusal{w.ErrorType, w.Error}
	case w.Status != "success" || w.Data.Type != "vector":
		return out, errors.New("its answer is no vector")
	}
	for _, text := range w.Warnings {
		out.Warnings = append(out.Warnings, shown.Cut(shown.Text(text), 200))
	}
	for _, s := range w.Data.Result {
		var seconds float64
		var text string
		if json.Unmarshal(s.Value[0], &seconds) != nil || json.Unmarshal(s.Value[1], &text) != nil {
			return out, errors.New("its answer has a value that can't be read")
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) {
			continue // a rate of nothing
		}
		out.Samples = append(out.Samples, Sample{Labels: s.Metric, Value: v, At: time.UnixMilli(int64(1000 * seconds))})
	}
	return out, nil
}
