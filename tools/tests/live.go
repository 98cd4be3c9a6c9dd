package main

import (
	"context"
	"os"
	"os/exec"
	"sync"
)

// runLive runs built test programs, so many at a time, each in its package's folder as
// go test does, and removes each when it is over.
func runLive(ctx context.Context, e *events, programs map[string]string, all []pkg, width int) {
	next := make(chan pkg)
	var workers sync.WaitGroup
	for range width {
		workers.Go(func() {
			for p := range next {
				runOne(ctx, e, p, programs[p.ImportPath])
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
}

func runOne(ctx context.Context, e *events, p pkg, program string) {
	if program == "" {
		e.send(event{Action: "output", Package: p.ImportPath, Output: "it does not build: see above\n"},
			event{Action: "fail", Package: p.ImportPath})
		return
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "test2json", "-t", "-p", p.ImportPath,
		program, "-test.v=test2json", "-test.paniconexit0", "-test.timeout=25m")
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), "PWD="+p.Dir)
	if err := e.copy(cmd, nil); err != nil && ctx.Err() != nil {
		e.send(event{Action: "fail", Package: p.ImportPath})
	}
	_ = os.Remove(program)
}
