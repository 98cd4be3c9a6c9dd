package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// cost is what one snag find --fleet took.
type cost struct {
	Wall, CPU, StoreCPU float64 // seconds
	Resident            float64 // bytes, at most
	Queries             int
	Wire, Read          float64 // bytes of answers, as sent and unpacked
}

// find runs snag find --fleet as a process, and checks its answer.
func find(ctx context.Context, snag string, w *world, s *store, at time.Time, through string) (c cost, err error) {
	cmd := exec.CommandContext(ctx, snag, "find", "--fleet", through, "--at", at.UTC().Format(time.RFC3339), "--json")
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	before, began := s.cpu(), time.Now()
	err = cmd.Run()
	c.Wall, c.StoreCPU = time.Since(began).Seconds(), s.cpu()-before
	if cmd.ProcessState == nil {
		return c, err
	}
	c.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.Resident = 1024 * float64(used.Maxrss)
	}
	if code := cmd.ProcessState.ExitCode(); code != 10 {
		return c, fmt.Errorf("snag find --fleet ended with %d, not 10: %s", code, problems.Bytes())
	}
	return c, w.check(out.Bytes())
}

// counted runs it through a proxy that counts what it reads. The time is not that of a run without one.
func counted(ctx context.Context, snag string, w *world, s *store, at time.Time) (cost, error) {
	to, err := url.Parse(s.url)
	if err != nil {
		return cost{}, err
	}
	var mu sync.Mutex
	var queries int
	var wire, read float64
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(resp *http.Response) error {
			body, err := io.ReadAll(resp.Body)
			resp.Body = io.NopCloser(bytes.NewReader(body))
			size := int64(len(body))
			if resp.Header.Get("Content-Encoding") == "gzip" {
				if z, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
					size, _ = io.Copy(io.Discard, z)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			queries, wire, read = queries+1, wire+float64(len(body)), read+float64(size)
			return err
		},
	}
	server := httptest.NewServer(proxy)
	defer server.Close()
	c, err := find(ctx, snag, w, s, at, server.URL)
	c.Queries, c.Wire, c.Read = queries, wire, read
	return c, err
}
