// Command soak runs snag record on a busy host for hours: 2,000 connected sockets, 300 processes, and
// processes, programs, connections, namespaces and control groups that come and go (internal/churntest).
// Every five minutes it prints what the recorder uses. It fails if the recorder's memory grows, if the
// recorder ends, or if the ring has a gap. It needs root.
//
//	go run ./tools/soak -snag bin/snag -for 1h
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/churntest"
)

// plan is what is run, and what it is held against.
type plan struct {
	snag, ring   string
	lasts, every time.Duration
	settle       time.Duration // until memory is judged
	churn        float64
}

func main() {
	churntest.Main()
	var p plan
	flag.StringVar(&p.snag, "snag", "bin/snag", "the binary to run")
	flag.StringVar(&p.ring, "ring", "", "the ring's folder, which is kept (default: a folder that is removed)")
	flag.DurationVar(&p.lasts, "for", time.Hour, "how long; 20m at the least tell of memory")
	flag.DurationVar(&p.every, "every", 5*time.Minute, "how often a line is printed")
	flag.DurationVar(&p.settle, "settle", 10*time.Minute, "memory is judged from then on")
	flag.Float64Var(&p.churn, "churn", 1, "how much comes and goes; 1: a host where programs are compiled and tested")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	if err := p.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}
