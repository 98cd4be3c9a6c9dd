package main

import (
	"fmt"
	"time"

	"snag/tools/workload"
)

var programs = map[string]string{
	"calls": workload.Calls, "idle": workload.Socket, "pingpong": workload.PingPong,
	"futex": workload.Futex, "lock": workload.Lock,
}

// program starts one of the loads that are programs of their own.
func program(name string) func() (*session, error) {
	return func() (*session, error) {
		p, err := workload.Start(programs[name])
		if err != nil {
			return nil, err
		}
		pids := p.PIDs()
		return &session{pid: p.PID(), end: p.End, run: func(window time.Duration) (done, error) {
			before, err := workload.CPUTime(pids...)
			if err != nil {
				return done{}, err
			}
			d, err := p.Work(window)
			if err != nil {
				return done{}, err
			}
			after, err := workload.CPUTime(pids...)
			return perOperation(float64(d.N), d.Wall, after-before), err
		}}, nil
	}
}

func perOperation(n float64, wall, cpu time.Duration) done {
	return done{rate: n / wall.Seconds(), cpu: cpu.Seconds() * 1e6 / n}
}

// inside is a load that this process makes itself.
func inside(do func(window time.Duration) (n float64, err error)) func() (*session, error) {
	return func() (*session, error) {
		return &session{end: func() {}, run: func(window time.Duration) (done, error) {
			before, began := ownCPU(), time.Now()
			n, err := do(window)
			if err == nil && n == 0 {
				err = fmt.Errorf("nothing was done")
			}
			return perOperation(n, time.Since(began), ownCPU()-before), err
		}}, nil
	}
}
