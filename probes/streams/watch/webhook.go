package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Webhook posts an alarm as JSON.
type Webhook struct {
	URL     *url.URL
	Timeout time.Duration
}

// NewWebhook checks a URL to post to.
func NewWebhook(raw string, timeout time.Duration) (Webhook, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Webhook{}, fmt.Errorf("%q is no http:// or https:// URL", Clean(hideUser(raw), 80))
	}
	return Webhook{u, timeout}, nil
}

// post is the body: docs/watch.md.
type post struct {
	Event   string  `json:"event"`
	Stream  string  `json:"stream"`
	URL     string  `json:"url"`
	Layer   string  `json:"layer,omitempty"`
	Onset   string  `json:"onset"`
	Seconds float64 `json:"seconds"`
	Verdict string  `json:"verdict,omitempty"`
	// By the host's recording.
	Culprit    string   `json:"culprit,omitempty"`
	Subject    string   `json:"subject,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	Recording  string   `json:"recording,omitempty"`
}

func postOf(a Alarm) post {
	p := post{
		Event: a.Event, Stream: a.Stream, URL: a.URL, Layer: a.Layer,
		Onset: a.Onset.UTC().Format(time.RFC3339Nano), Seconds: a.For.Seconds(), Verdict: a.Verdict,
	}
	if j := a.Judged; j != nil {
		p.Culprit, p.Subject, p.Recording = j.Culprit, j.Subject, j.Recording
		if j.Culprit != "" {
			p.Confidence = &j.Confidence
		}
	}
	return p
}

// Do posts once. A redirect is not followed: it would become a GET.
func (w Webhook) Do(ctx context.Context, a Alarm) error {
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	body, err := json.Marshal(postOf(a))
	if err != nil {
		return fmt.Errorf("post to %s: %w", ShownURL(w.URL), err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("post to %s: the URL can't be used", ShownURL(w.URL))
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("post to %s: %s", ShownURL(w.URL), Clean(bare(err).Error(), maxShownWhy))
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 512)) // only shown
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("post to %s: it answered %s: %s", ShownURL(w.URL), Clean(resp.Status, 60), Clean(string(bytes.TrimSpace(said)), maxShownWhy))
	}
	return nil
}
