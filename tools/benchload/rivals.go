package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// asks has a generator ask a URL on some connections for some time; rate 0: as much as it can. It returns the
// requests per second that the generator says.
type asks func(ctx context.Context, b *bench, url string, rate, conns int, window time.Duration) (perSecond float64, r ran, err error)

func snagAsks(ctx context.Context, b *bench, url string, rate, conns int, window time.Duration) (float64, ran, error) {
	l, r, err := b.load(ctx, url, "--rate", rateText(rate), "--conns", strconv.Itoa(conns), "--for", window.String())
	return l.Rate, r, err
}

// snagSpins is the same with --spin.
func snagSpins(ctx context.Context, b *bench, url string, rate, conns int, window time.Duration) (float64, ran, error) {
	l, r, err := b.load(ctx, url, "--rate", rateText(rate), "--conns", strconv.Itoa(conns), "--for", window.String(), "--spin", "--cpu", strconv.Itoa(b.clientCPU))
	return l.Rate, r, err
}

func rateText(rate int) string {
	if rate == 0 {
		return "max"
	}
	return strconv.Itoa(rate)
}

// wrkRate is of wrk and wrk2.
var wrkRate = regexp.MustCompile(`Requests/sec: +([0-9.]+)`)

func wrkAsks(ctx context.Context, b *bench, url string, rate, conns int, window time.Duration) (float64, ran, error) {
	argv := []string{"wrk"}
	if rate > 0 {
		argv = []string{b.peer("wrk2"), "-R", strconv.Itoa(rate)}
	}
	argv = append(argv, "-t1", "-c"+strconv.Itoa(conns), fmt.Sprintf("-d%.0fs", max(1, window.Seconds())), url)
	r, err := b.program(ctx, b.clientCPU, argv...)
	if err != nil {
		return 0, r, err
	}
	m := wrkRate.FindSubmatch(r.out)
	if m == nil {
		return 0, r, fmt.Errorf("%s printed no rate: %s", argv[0], tail(string(r.out)))
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	return v, r, err
}

func fortioAsks(ctx context.Context, b *bench, url string, rate, conns int, window time.Duration) (float64, ran, error) {
	// -uniform sends the requests of the connections one after the other, as the others do.
	r, err := b.program(ctx, b.clientCPU, b.peer("fortio"), "load", "-quiet", "-qps", strconv.Itoa(rate), "-c", strconv.Itoa(conns), "-t", window.String(), "-uniform", "-json", "-", url)
	if err != nil {
		return 0, r, err
	}
	var said struct{ ActualQPS float64 }
	if err := json.Unmarshal(r.out, &said); err != nil {
		return 0, r, fmt.Errorf("read the JSON of fortio: %w", err)
	}
	return said.ActualQPS, r, nil
}
