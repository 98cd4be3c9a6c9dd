// Command benchload measures snag load beside other generators of load in one run: sockperf, wrk2, wrk, fortio,
// ghz, iperf3 and redis-benchmark. It also has snag load find causes that are known, since this program made them.
// It prints a table in Markdown. What was measured, and what the programs printed, stays in a folder, from which the
// table can be made again. It needs root, a network namespace of its own and what peers.sh fetches.
//
//	unshare --net bin/bench-load -snag bin/snag
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"snag/tools/benchhost"
)

const makeTarget = "bench-load"

type options struct {
	out, snag, peers, onlyText string
	tables                     bool
	rounds                     int
	window                     time.Duration
	only                       *regexp.Regexp // compiled from onlyText
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		exit(serve(os.Args[2:]))
	}
	var o options
	flag.BoolVar(&o.tables, "tables", false, "print the table of the last run, without measuring")
	flag.StringVar(&o.out, "out", "bin/bench-load.d", "the folder for what was measured and what the programs printed")
	flag.StringVar(&o.snag, "snag", "bin/snag", "the snag to measure")
	flag.StringVar(&o.peers, "peers", benchhost.Peers(makeTarget), "where tools/benchload/peers.sh put the other generators")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each is measured, in alternating order")
	flag.DurationVar(&o.window, "for", 5*time.Second, "how long each is measured")
	flag.StringVar(&o.onlyText, "only", "", "only the contests and checks whose name matches this regular expression")
	flag.Parse()
	exit(run(&o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchload:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

const reportFile = "report.json"

func run(o *options) (err error) {
	for _, path := range []*string{&o.snag, &o.peers, &o.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if o.only, err = regexp.Compile(o.onlyText); err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	var r report
	if o.tables {
		if err := benchhost.ReadJSON(filepath.Join(o.out, reportFile), makeTarget, &r); err != nil {
			return err
		}
		fmt.Print(table(&r))
		return nil
	}
	if err := benchhost.OwnNamespace(makeTarget); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	b, err := newBench(o)
	if err != nil {
		return err
	}
	if err := b.all(ctx); err != nil {
		return err
	}
	fmt.Print(table(&b.report))
	return nil
}
