// Package churntest makes what comes and goes on a busy host: processes, programs that are built, run
// once and removed, connections, listeners, network namespaces and control groups. What runs all the time
// beside it must not keep something of each.
package churntest

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// Rates are how many of each begin per second; 0: none.
type Rates struct {
	Processes, Programs, Connections, Listeners, Namespaces, Cgroups float64
}

// Busy is a host on which programs are compiled and tested all the time: 2,000 processes, 60 new programs,
// 3,000 connections, 120 listeners, 60 network namespaces and 120 control groups a minute.
var Busy = Rates{Processes: 32, Programs: 1, Connections: 50, Listeners: 2, Namespaces: 1, Cgroups: 2}

// Times returns rates that are higher by a factor.
func (r Rates) Times(f float64) Rates {
	return Rates{r.Processes * f, r.Programs * f, r.Connections * f, r.Listeners * f, r.Namespaces * f, r.Cgroups * f}
}

// Run makes them until ctx ends, and removes what is left. dir is a folder for programs. It returns the
// first failure of each kind: the host had less of it then.
func Run(ctx context.Context, dir string, r Rates) error {
	groups, err := newGroups()
	if err != nil {
		return err
	}
	p := programs{dir: dir}
	var all sync.WaitGroup
	errs := make([]error, 5)
	for i, kind := range []struct {
		rate float64
		once func(context.Context) error
	}{
		{r.Processes, process}, {r.Programs, p.once}, {r.Listeners, server{int(r.Connections / max(r.Listeners, 1))}.once},
		{r.Namespaces, namespace}, {r.Cgroups, groups.once},
	} {
		all.Go(func() { errs[i] = repeat(ctx, kind.rate, kind.once) })
	}
	all.Wait()
	return errors.Join(append(errs, groups.remove())...)
}

// repeat calls once at a rate per second, each in a goroutine of its own, until ctx ends.
func repeat(ctx context.Context, rate float64, once func(context.Context) error) (first error) {
	if rate == 0 {
		return nil
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	defer all.Wait()
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			all.Wait()
			return first
		case <-tick.C:
		}
		all.Go(func() {
			if err := once(ctx); err != nil && ctx.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = err
				}
			}
		})
	}
}

// roleEnv tells a copy of this program that it is a process of the churn.
const roleEnv = "SNAG_CHURN_ROLE"

// Main is called first of all by a program that calls Run: programs of the churn are copies of it. They do
// not return from it.
func Main() {
	if os.Getenv(roleEnv) != "" {
		burn(200 * time.Millisecond)
		os.Exit(0)
	}
}
