package fetch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"snag/internal/private"
)

// ask gets a recording from snag serve.
func (s *Source) ask(ctx context.Context, at string, from, to time.Time, file string) error {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	resp, err := s.answer(ctx, at, from, to)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refused(at, resp)
	}
	return private.Put(file, func(w io.Writer) error {
		n, err := io.Copy(w, io.LimitReader(resp.Body, mostBytes+1))
		switch {
		case err != nil:
			return &failure{answered, fmt.Sprintf("%s: its recording broke off after %d bytes: %v", at, n, err)}
		case n > mostBytes:
			return &failure{answered, fmt.Sprintf("%s: its recording is longer than %d MB", at, mostBytes>>20)}
		}
		return nil
	})
}

// Others may be asking a host as well: it says so, and is asked again.
const (
	busyTries = 5
	busyWait  = 2 * time.Second // as its Retry-After says
)

func (s *Source) answer(ctx context.Context, at string, from, to time.Time) (*http.Response, error) {
	query := url.Values{"from": {from.UTC().Format(time.RFC3339Nano)}, "to": {to.UTC().Format(time.RFC3339Nano)}}
	for try := 1; ; try++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(at, "/")+"/recording?"+query.Encode(), nil)
		if err != nil {
			return nil, fmt.Errorf("ask %s: %w", at, err)
		}
		for name, values := range s.headers {
			req.Header[name] = values
		}
		resp, err := s.http.Do(req)
		if err != nil {
			return nil, unanswered(at, err)
		}
		if resp.StatusCode != http.StatusServiceUnavailable || try == busyTries {
			return resp, nil
		}
		resp.Body.Close()
		select {
		case <-ctx.Done():
			return nil, unanswered(at, ctx.Err())
		case <-time.After(busyWait):
		}
	}
}
