package main

import (
	"fmt"
	"os/exec"
	"time"

	"snag/tools/benchhost"
)

// forks starts /bin/true again and again, one after the other: a shell script's day.
func forks() (*session, error) {
	g, err := benchhost.NewGroup("snag-bench")
	if err != nil {
		return nil, err
	}
	return &session{end: func() { _ = g.End() }, run: func(window time.Duration) (done, error) {
		before, err := g.CPU()
		if err != nil {
			return done{}, err
		}
		began, n := time.Now(), 0.0
		for ; time.Since(began) < window; n++ {
			if err := g.Put(exec.Command("/bin/true")).Run(); err != nil {
				return done{}, fmt.Errorf("run /bin/true: %w", err)
			}
		}
		took := time.Since(began)
		after, err := g.CPU()
		return perOperation(n, took, after-before), err
	}}, nil
}
