package main

import (
	"fmt"
	"os/exec"
	"time"
)

// forks starts /bin/true again and again, one after the other: a shell script's day.
func forks() (*session, error) {
	g, err := newGroup()
	if err != nil {
		return nil, err
	}
	return &session{end: g.end, run: func(window time.Duration) (done, error) {
		before, err := g.used()
		if err != nil {
			return done{}, err
		}
		began, n := time.Now(), 0.0
		for ; time.Since(began) < window; n++ {
			if err := g.put(exec.Command("/bin/true")).Run(); err != nil {
				return done{}, fmt.Errorf("run /bin/true: %w", err)
			}
		}
		took := time.Since(began)
		after, err := g.used()
		return perOperation(n, took, after-before), err
	}}, nil
}
