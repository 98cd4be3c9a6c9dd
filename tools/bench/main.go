// Command bench measures what snag find costs the host that it watches: loads with
// and without it, in turn; the longest that a program is kept from its work; and its
// own start, memory and CPU. It prints Markdown. Machines are shared and noisy: read
// the ratios, and CPU time before throughput. It needs root; nginx and wrk for the
// loads that are theirs.
//
//	go run ./tools/bench -snag bin/snag
//	go run ./tools/bench -snag bin/snag -only nginx -for 30s
//	go run ./tools/bench -snag bin/snag -record -for 10m -rounds 1
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snag/tools/workload"
)

func main() {
	if workload.Serve() {
		return
	}
	snag := flag.String("snag", "bin/snag", "the binary to measure")
	rounds := flag.Int("rounds", 3, "how often each load runs with and without")
	window := flag.Duration("for", 3*time.Second, "length of each run; a find looks closer from 2 s on, in a long one from 10 s on")
	only := flag.String("only", "", "only the loads whose name has this in it, or: gaps, own")
	record := flag.Bool("record", false, "compare loads with and without snag record instead of snag find")
	flag.Parse()
	if err := run(*snag, *rounds, *window, *only, *record); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(snag string, rounds int, window time.Duration, only string, record bool) error {
	snag, err := filepath.Abs(snag)
	if err != nil {
		return err
	}
	command, first := "find", true
	if record {
		command = "record"
	}
	for _, l := range loads {
		if !strings.Contains(l.name, only) || record && (l.target || l.idle) {
			continue
		}
		if first {
			fmt.Println(head(command))
			first = false
		}
		row, err := compare(l, snag, rounds, window, record)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		fmt.Println(row)
	}
	if record {
		return nil
	}
	if only == "" || only == "gaps" {
		if err := gaps(snag, max(2, rounds-1)); err != nil {
			return err
		}
	}
	if only == "" || only == "own" {
		return own(snag, max(window, 5*time.Second))
	}
	return nil
}
