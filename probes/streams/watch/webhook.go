package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Webhook posts calls as JSON.
type Webhook struct {
	URL     *url.URL
	Timeout time.Duration // of one request
	Form    Form          // nil: snag's own
	Secret  []byte        // signs what is posted; empty: it is not signed
	First   time.Duration // before the first repetition
	Total   time.Duration // from the first request to the last
}

// NewWebhook checks a URL to post to.
func NewWebhook(raw string, timeout time.Duration) (Webhook, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Webhook{}, fmt.Errorf("%q is not an http:// or https:// URL", Clean(hideUser(raw), 80))
	}
	return Webhook{URL: u, Timeout: timeout, First: firstRepeat, Total: lastRepeat}, nil
}

// Do posts a call, again where that may help, within a bound.
func (w Webhook) Do(ctx context.Context, c Call) error {
	form := w.Form
	if form == nil {
		form = snagForm
	}
	body, err := form(c)
	if err != nil {
		return fmt.Errorf("post to %s: %w", w.shown(), err)
	}
	began := time.Now()
	for n := 1; ; n++ {
		err := w.post(ctx, c.ID, body)
		if err == nil {
			return nil
		}
		if !again(err) {
			return fmt.Errorf("post to %s: %w", w.shown(), err)
		}
		now := time.Now()
		wait, why := repeat(err, n, w.First, w.Total-now.Sub(began), now, rand.Float64())
		if why == "" && !pause(ctx, c.Ending, wait) {
			why = "the watch ends"
		}
		if why != "" {
			return fmt.Errorf("post to %s: %w; given up after %s in %s: %s", w.shown(), err, counted(n, "request"), short(time.Since(began)), why)
		}
	}
}

// post posts once. A redirect is not followed: it would become a GET.
func (w Webhook) post(ctx context.Context, id string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL.String(), bytes.NewReader(body))
	if err != nil {
		return errors.New("the URL can't be used")
	}
	req.Header.Set("Content-Type", "application/json")
	identify(req.Header, id, time.Now(), body, w.Secret)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return &unreached{err}
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 512)) // only shown
	if resp.StatusCode/100 != 2 {
		return &answered{resp.StatusCode, Clean(w.hide(resp.Status), 60), Clean(w.hide(string(bytes.TrimSpace(said))), maxShownWhy), resp.Header.Get("Retry-After")}
	}
	return nil
}

// shown is where it posts to, without the path: of chat services that is the secret.
func (w Webhook) shown() string {
	u := url.URL{Scheme: w.URL.Scheme, Host: w.URL.Host}
	if strings.Trim(w.URL.Path, "/") != "" {
		return Clean(u.String(), 200) + "/…"
	}
	return Clean(u.String(), 200)
}

// hide takes the URL's secrets out of what a server says: some quote what they were asked for.
func (w Webhook) hide(text string) string {
	secrets := []string{w.URL.RequestURI(), w.URL.EscapedPath(), w.URL.Path, w.URL.RawQuery}
	for _, values := range w.URL.Query() {
		secrets = append(secrets, values...)
	}
	for _, s := range secrets {
		if len(s) > 1 {
			text = strings.ReplaceAll(text, s, "…")
		}
	}
	return text
}

// pause waits; false: ctx or the watch ends.
func pause(ctx context.Context, ending <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-ending:
		return false
	case <-t.C:
		return true
	}
}
