// Package asking asks two services over HTTP for the same time, at a modest rate, for snag compare.
package asking

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Answer is one request and what came of it.
type Answer struct {
	At, Took time.Duration // since the beginning
	Status   int           // 0: there was no answer
	Type     string        // of its content
	Err      string        // why there was none
}

// Failed reports whether it is an error, or none came.
func (a Answer) Failed() bool { return a.Status == 0 || a.Status >= http.StatusBadRequest }

const (
	// Rate of requests per second to each: what a service does not notice.
	Rate = 5
	// mostWait for an answer, and mostBody of it that is read.
	mostWait = 10 * time.Second
	mostBody = 8 << 20
)

// Both asks a and b in turn until the time is over or ctx ends, each over one connection and never
// before the answer to the last request. Which is asked first changes each time.
func Both(ctx context.Context, a, b *url.URL, window time.Duration, tick func(left time.Duration)) (of [2][]Answer) {
	ctx, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	begun := time.Now()
	var turns [2]chan struct{}
	var done sync.WaitGroup
	for i, u := range []*url.URL{a, b} {
		turns[i] = make(chan struct{}) // nobody waits in line: a turn that comes too early is left out
		done.Go(func() { of[i] = ask(ctx, u, begun, turns[i]) })
	}
	each := time.NewTicker(time.Second / Rate / 2)
	defer each.Stop()
	for n := 0; ; n++ {
		round, second := n/2, n%2 == 1
		i := 0
		if (round%2 == 1) != second {
			i = 1
		}
		select {
		case turns[i] <- struct{}{}:
		default:
		}
		if n%(2*Rate) == 0 {
			tick(window - time.Since(begun))
		}
		select {
		case <-ctx.Done():
			done.Wait()
			return of
		case <-each.C:
		}
	}
}

func ask(ctx context.Context, u *url.URL, begun time.Time, turns <-chan struct{}) (out []Answer) {
	client := &http.Client{
		Timeout:       mostWait,
		Transport:     &http.Transport{MaxConnsPerHost: 1, MaxIdleConns: 1, Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // an answer too
	}
	defer client.CloseIdleConnections()
	for {
		select {
		case <-ctx.Done():
			return out
		case <-turns:
		}
		at := time.Now()
		one := get(ctx, client, u)
		one.At, one.Took = at.Sub(begun), time.Since(at)
		if ctx.Err() != nil && one.Status == 0 {
			return out // the time was over before the answer
		}
		out = append(out, one)
	}
}

func get(ctx context.Context, client *http.Client, u *url.URL) (out Answer) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Answer{Err: err.Error()}
	}
	req.Header.Set("User-Agent", "snag compare")
	resp, err := client.Do(req)
	if err != nil {
		return Answer{Err: reason(err)}
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, mostBody)); err != nil {
		return Answer{Err: fmt.Sprintf("the answer broke off: %v", reason(err))}
	}
	return Answer{Status: resp.StatusCode, Type: resp.Header.Get("Content-Type")}
}
