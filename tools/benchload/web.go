package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

const webAt = "127.0.0.1:7103"

// One worker, and a short answer: what is measured is the generator. The status counts requests the same for all.
const webConfig = `daemon off;
user root;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 4096; }
http {
	access_log off;
	keepalive_requests 1000000000;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen %[2]s;
		location / { return 200 "ok"; }
		location = /status { stub_status; }
	}
}
`

func web(ctx context.Context, b *bench) (*server, error) {
	dir := filepath.Join(b.o.out, "nginx")
	conf := filepath.Join(dir, "nginx.conf")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(conf, fmt.Appendf(nil, webConfig, dir, webAt), 0o644)); err != nil {
		return nil, err
	}
	return b.start(ctx, webAt, func() error { return answers(webAt) }, "nginx", "-c", conf)
}

// handled is the third number of "server accepts handled requests".
var handled = regexp.MustCompile(`requests\s+\d+ \d+ (\d+)`)

func served() (float64, error) {
	res, err := http.Get("http://" + webAt + "/status")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	m := handled.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("nginx has no count of requests: %s", text)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

const (
	webConns = 16
	// shortRun is taken away from a longer one: with it the start, the end and what a generator does first.
	shortRun = 2 * time.Second
)

// cpu is what a request costs a generator: CPU time of all its threads and processes.
func cpu(name string, rate int) contest {
	third := "wrk"
	if rate > 0 {
		third = "wrk2"
	}
	return contest{name: name, server: web, contenders: []contender{{"snag", costs(rate, snagAsks)}, {"fortio", costs(rate, fortioAsks)}, {third, costs(rate, wrkAsks)}}}
}

func costs(rate int, asks asks) func(context.Context, *bench, *server) (figures, error) {
	return func(ctx context.Context, b *bench, s *server) (figures, error) {
		var cpu, requests [2]float64
		var perSecond float64
		for i, window := range []time.Duration{shortRun, shortRun + b.o.window} {
			before, err := served()
			if err != nil {
				return nil, err
			}
			v, r, err := asks(ctx, b, "http://"+s.at+"/", rate, webConns, window)
			if err != nil {
				return nil, err
			}
			after, err := served()
			if err != nil {
				return nil, err
			}
			perSecond, cpu[i], requests[i] = v, r.cpu.Seconds(), after-before-1
		}
		n := requests[1] - requests[0]
		if n < 1 {
			return nil, fmt.Errorf("%.0f requests in the longer run, %.0f in the shorter", requests[1], requests[0])
		}
		return figures{"CPU per request, µs": (cpu[1] - cpu[0]) / n * 1e6, "requests/s": perSecond}, nil
	}
}

const highRate, highConns = 40_000, 64

// high is whether a generator sends as many as it should.
func high() contest {
	share := func(asks asks) func(context.Context, *bench, *server) (figures, error) {
		return func(ctx context.Context, b *bench, s *server) (figures, error) {
			v, _, err := asks(ctx, b, "http://"+s.at+"/", highRate, highConns, b.o.window)
			return figures{"achieved, share": v / highRate}, err
		}
	}
	return contest{name: "40,000 requests/s", server: web, contenders: []contender{{"snag", share(snagAsks)}, {"wrk2", share(wrkAsks)}, {"fortio", share(fortioAsks)}}}
}
