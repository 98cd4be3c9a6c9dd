package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// lagConns are the connections on which the lateness of sending is measured.
const lagConns = 10

// lag is how late requests are sent, by the kernel's timestamps of their arrival at a server of this program: the
// same instrument for all.
func lag(rate int) contest {
	return contest{
		name: fmt.Sprintf("lateness at %s requests/s", benchCount(rate)),
		server: func(context.Context, *bench) (*server, error) {
			return &server{}, nil // each generator has one of its own
		},
		contenders: []contender{{"snag", late(rate, snagAsks)}, {"snag --spin", late(rate, snagSpins)}, {"wrk2", late(rate, wrkAsks)}, {"fortio", late(rate, fortioAsks)}},
	}
}

func late(rate int, asks asks) func(context.Context, *bench, *server) (figures, error) {
	return func(ctx context.Context, b *bench, _ *server) (figures, error) {
		const at = "127.0.0.1:7102"
		path := filepath.Join(b.raw, fmt.Sprintf("arrivals-%04d.json", b.runs+1))
		s, err := b.start(ctx, at, func() error { return answers(at) }, b.self, "serve", "-at", at, "-arrivals", path)
		if err != nil {
			return nil, err
		}
		defer s.end()
		perSecond, _, err := asks(ctx, b, "http://"+at+"/", rate, lagConns, b.o.window)
		if err != nil {
			return nil, err
		}
		_ = s.in.Close() // it writes its file and ends
		_ = s.cmd.Wait()
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var arrivals [][]int64
		if err := json.Unmarshal(text, &arrivals); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		lags := latenesses(arrivals)
		if len(lags) < rate/2 {
			return nil, fmt.Errorf("%d requests came, too few to measure when they were sent", len(lags))
		}
		return figures{"late p50, µs": quantile(lags, 0.5) / 1e3, "late p99, µs": quantile(lags, 0.99) / 1e3, "sent, share": perSecond / float64(rate)}, nil
	}
}

// benchCount writes 10000 as 10,000.
func benchCount(n int) string {
	s := strconv.Itoa(n)
	if len(s) > 3 {
		return s[:len(s)-3] + "," + s[len(s)-3:]
	}
	return s
}
