package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A took says how long a live package ran, and how much CPU time its test program and
// the programs that it waited for used. Little CPU in a long time is what to look at
// when the check has become slow: such tests wait.
type took struct {
	name      string
	wall, cpu time.Duration
}

// runLive runs built test programs, so many at a time, each in its package's folder as
// go test does, and removes each when it is over.
func runLive(ctx context.Context, e *events, programs map[string]string, all []pkg, width int) []took {
	next := make(chan pkg)
	var workers sync.WaitGroup
	var mu sync.Mutex
	var times []took
	for range width {
		workers.Go(func() {
			for p := range next {
				t := runOne(ctx, e, p, programs[p.ImportPath])
				mu.Lock()
				times = append(times, t)
				mu.Unlock()
			}
		})
	}
	for _, p := range all {
		if ctx.Err() != nil {
			break
		}
		next <- p
	}
	close(next)
	workers.Wait()
	return times
}

func runOne(ctx context.Context, e *events, p pkg, program string) took {
	t := took{name: p.ImportPath}
	if program == "" {
		e.send(event{Action: "output", Package: p.ImportPath, Output: "it does not build: see above\n"},
			event{Action: "fail", Package: p.ImportPath})
		return t
	}
	args := []string{"tool", "test2json", "-t", "-p", p.ImportPath, program, "-test.v=test2json", "-test.paniconexit0", "-test.timeout=25m",
		"-test.parallel=" + strconv.Itoa(2*runtime.NumCPU())}
	cmd := exec.CommandContext(ctx, "go", append(args, p.flags...)...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), "PWD="+p.Dir)
	began := time.Now()
	if err := e.copy(cmd, nil); err != nil && ctx.Err() != nil {
		e.send(event{Action: "fail", Package: p.ImportPath})
	}
	if !p.part {
		_ = os.Remove(program)
	}
	t.wall = time.Since(began)
	if s := cmd.ProcessState; s != nil {
		t.cpu = s.UserTime() + s.SystemTime()
	}
	return t
}

// printLongest names the live packages that took longest.
func printLongest(times []took, n int) {
	slices.SortFunc(times, func(a, b took) int { return int(b.wall - a.wall) })
	fmt.Println("the longest live packages:")
	for _, t := range times[:min(n, len(times))] {
		fmt.Printf("%6.0f s, %4.0f s of CPU: %s\n", t.wall.Seconds(), t.cpu.Seconds(), t.name)
	}
}
