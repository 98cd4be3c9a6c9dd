// Command benchsyscalls measures what it costs a program to have its system calls
// counted: by snag syscalls, strace -f -c, perf trace -s and bpftrace, in one run on
// the same loads. It prints Markdown. Machines are shared and noisy: read the ratios.
// It needs root.
//
//	go run ./tools/benchsyscalls -snag bin/snag
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"snag/tools/workload"
)

// loads in the order in which they are shown.
var loads = []string{workload.Calls, workload.Socket, workload.PingPong, workload.Futex}

func main() {
	if workload.Serve() {
		return
	}
	snag := flag.String("snag", "bin/snag", "the binary to measure")
	rounds := flag.Int("rounds", 3, "how often each load runs with each tracer; the least counts")
	window := flag.Duration("for", time.Second, "how long each load runs")
	only := flag.String("load", "", "only the loads whose name begins so, and nothing else")
	flag.Parse()
	if err := run(*snag, *rounds, *window, *only); err != nil {
		fmt.Fprintln(os.Stderr, "benchsyscalls:", err)
		os.Exit(1)
	}
}

// cost is what an operation took, ns of CPU of the traced program and of the clock.
type cost struct{ cpu, wall float64 }

func run(snag string, rounds int, window time.Duration, only string) error {
	snag, err := filepath.Abs(snag)
	if err != nil {
		return err
	}
	all := tracers(snag)
	fmt.Print("| load | bare, µs of CPU |")
	for _, t := range all {
		fmt.Printf(" %s |", t.name)
	}
	fmt.Print("\n|---|---|")
	for range all {
		fmt.Print("---|")
	}
	fmt.Println()
	for _, l := range loads {
		if !strings.HasPrefix(l, only) {
			continue
		}
		bare := []cost{}
		with := make([][]cost, len(all))
		for range rounds {
			c, err := measure(l, tracer{}, window)
			if err != nil {
				return err
			}
			bare = append(bare, c)
			for i, t := range all {
				c, err := measure(l, t, window)
				if err != nil {
					fmt.Fprintf(os.Stderr, "benchsyscalls: %s with %s: %v\n", l, t.name, err)
					continue
				}
				with[i] = append(with[i], c)
			}
		}
		b := least(bare)
		fmt.Printf("| %s | %.3f |", l, b.cpu/1e3)
		for i := range all {
			if len(with[i]) == 0 {
				fmt.Print(" – |")
				continue
			}
			c := least(with[i])
			fmt.Printf(" %.2f (clock %.2f, +%.2f µs) |", c.cpu/b.cpu, c.wall/b.wall, (c.cpu-b.cpu)/1e3)
		}
		fmt.Println()
	}
	if only != "" {
		return nil
	}
	return own(snag, all, window, rounds)
}

// least is the run with least CPU: what disturbs a run only adds.
func least(all []cost) cost {
	return slices.MinFunc(all, func(a, b cost) int {
		switch {
		case a.cpu < b.cpu:
			return -1
		case a.cpu > b.cpu:
			return 1
		}
		return 0
	})
}

// measure runs a load once, traced by t.
func measure(load string, t tracer, window time.Duration) (cost, error) {
	p, err := workload.Start(load)
	if err != nil {
		return cost{}, err
	}
	defer p.End()
	stop, err := t.attach(p.PID())
	if err != nil {
		return cost{}, err
	}
	defer stop()
	d, err := p.Work(window)
	if err != nil {
		return cost{}, err
	}
	return cost{float64(d.CPU) / float64(d.N), float64(d.Wall) / float64(d.N)}, nil
}

func sorted(v []float64) []float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return s
}
