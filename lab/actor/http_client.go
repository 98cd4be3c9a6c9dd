package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"time"
)

var httpClient = Actor{
	Name:  "http-client",
	About: "asks for a page on kept connections at a rate, prints the latencies",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		url := f.String("url", "", "the page")
		conns := f.Int("conns", 4, "connections, at most 64")
		every := f.Duration("every", 100*time.Millisecond, "a request this often on each, or as soon as the one before was answered")
		any := f.Bool("any", false, "an answer with any status is one")
		if err := parse(); err != nil {
			return err
		}
		if *conns < 1 || *conns > 64 || *every <= 0 {
			return errors.New("--conns must be 1 to 64, --every above 0")
		}
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *conns}}
		var lat latencies
		errs := make(chan error, *conns)
		for range *conns {
			go func() { errs <- fetchEach(ctx, client, *url, *every, *any, &lat) }()
		}
		ready()
		for {
			select {
			case err := <-errs:
				return err
			case <-ctx.Done():
				return nil
			case <-time.After(time.Second):
				if p50, p99, n := lat.take(); n > 0 {
					fmt.Printf("answers %d p50_ms %.1f p99_ms %.1f\n", n, p50*1e3, p99*1e3)
				}
			}
		}
	},
}

func fetchEach(ctx context.Context, client *http.Client, url string, every time.Duration, any bool, lat *latencies) error {
	for next := time.Now(); ctx.Err() == nil; {
		start := time.Now()
		resp, err := client.Get(url)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err == nil && !any && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("GET %s: %s", url, resp.Status)
		}
		if err != nil {
			return err
		}
		lat.add(time.Since(start).Seconds())
		if next = next.Add(every); time.Since(next) > 0 {
			next = time.Now()
		}
		if !sleep(ctx, time.Until(next)) {
			return nil
		}
	}
	return nil
}
