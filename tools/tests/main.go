// Command tests runs the tests of all packages and prints their events as
// `go test -json` does, for tools/testsum.
//
// Live tests measure the machine that they run on, so every test program of theirs is compiled
// and linked first. Then come those that look at namespaces of their own and mostly wait, and
// in the time that they leave, at a lower priority, the packages that need no privilege. Those
// that need a quiet machine come then, two at a time, and those that measure the whole machine
// last, each by itself (plan.go has the rule).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

func main() {
	list := flag.Bool("list", false, "print how each package runs, and run none")
	seed := flag.String("draw", "", "of the lab's incidents only a third, drawn by this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *list, *seed, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "run the tests:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, list bool, seed string, patterns []string) error {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	all, err := packages(ctx, patterns)
	if err != nil {
		return err
	}
	if seed != "" {
		var left int
		all, left = drawn(all, seed)
		fmt.Printf("%d of the lab's incidents were not drawn by %s: make test runs all\n", left, seed)
	}
	all = split(all)
	longestFirst(all)
	if list {
		for _, p := range all {
			fmt.Printf("%-6s %s\n", p.way(), p.ImportPath)
		}
		return nil
	}
	by := map[way][]pkg{}
	for _, p := range all {
		by[p.way()] = append(by[p.way()], p)
	}
	dir, err := os.MkdirTemp("", "snag-tests")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	step := func(done string, n int) {
		fmt.Printf("%s: %d packages, %.0f s\n", done, n, time.Since(began).Seconds())
		began = time.Now()
	}
	live := slices.Concat(by[beside], by[paired], by[alone])
	// What does not build is reported by runPure and runLive, each package's for itself.
	programs := build(ctx, dir, live)
	if len(live) > 0 {
		if err := buildPrograms(ctx, dir); err != nil {
			return err
		}
	}
	step("built the live tests", len(live))
	e := &events{out: os.Stdout}
	var unprivileged sync.WaitGroup
	unprivileged.Go(func() { runPure(ctx, e, by[pure]) })
	times := runLive(ctx, e, programs, by[beside], besideWidth)
	step(fmt.Sprint("live in namespaces of their own, ", besideWidth, " at a time"), len(by[beside]))
	unprivileged.Wait()
	step("without privileges, "+fmt.Sprint(pureWidth())+" at a time, beside those and after", len(by[pure]))
	times = append(times, runLive(ctx, e, programs, by[paired], 2)...)
	step("live, two at a time", len(by[paired]))
	times = append(times, runLive(ctx, e, programs, by[alone], 1)...)
	step("live, one at a time", len(by[alone]))
	printLongest(times, 15)
	return ctx.Err()
}
