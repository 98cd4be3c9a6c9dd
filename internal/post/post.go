// Package post sends bodies over HTTP to a server that takes metrics or logs: what its answers mean, when another try
// may help, and headers whose values are secrets.
package post

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"snag/internal/shown"
)

// Client posts. It follows no redirect and asks no proxy of the environment: what is sent goes where the user said.
type Client struct {
	// Timeout is that of one request.
	Timeout time.Duration
	// Dated takes the Date of each answer, with when its request was sent and the answer began; nil: nobody.
	Dated   func(date string, sent, got time.Time)
	headers http.Header
	http    http.Client
}

// New makes a client that sends these headers too.
func New(headers http.Header) *Client {
	return &Client{Timeout: 10 * time.Second, headers: headers, http: http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

const (
	mostAnswer = 64 << 10 // bytes of an answer that are read
	mostShown  = 200      // bytes of it in an error
)

// Post posts once, and returns the body of an answer that says that all was taken. Its error is a *Failed.
func (c *Client) Post(ctx context.Context, to string, of http.Header, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, &Failed{To: to, Why: err.Error()}
	}
	for _, all := range []http.Header{c.headers, of} {
		for name, values := range all {
			req.Header[name] = values
		}
	}
	sent := time.Now()
	resp, err := c.http.Do(req)
	if err == nil && c.Dated != nil {
		c.Dated(resp.Header.Get("Date"), sent, time.Now())
	}
	if err != nil {
		var with *url.Error
		if errors.As(err, &with) {
			err = with.Err
		}
		var cert *tls.CertificateVerificationError
		return nil, &Failed{To: to, Why: c.Clean(err.Error()), Again: !errors.As(err, &cert)}
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, mostAnswer)) // an answer that is cut off is still an answer
	return text, c.answered(to, resp, text)
}

// answered is what an answer means; nil: all was taken.
func (c *Client) answered(to string, resp *http.Response, text []byte) error {
	code := resp.StatusCode
	if code/100 == 2 {
		return nil
	}
	why := c.Clean(resp.Status)
	switch {
	case code/100 == 3:
		why += ": redirects are not followed; give the final URL"
	case len(bytes.TrimSpace(text)) > 0:
		why += ": " + c.Clean(string(text))
	}
	f := &Failed{To: to, Why: why, Code: code}
	switch code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.Again, f.After = true, RetryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	return f
}

// Clean makes a stranger's text short and harmless, without our secrets where it repeats them.
func (c *Client) Clean(text string) string {
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
