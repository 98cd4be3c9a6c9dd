package actor

import (
	"context"
	"flag"
	"time"

	"golang.org/x/sys/unix"
)

var burner = Actor{
	Name:  "burner",
	About: "burns CPU in some threads, all the time or a share of it, and touches no socket",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		threads := f.Int("threads", 1, "threads")
		share := f.Float64("share", 1, "share of the time that each of them burns, 0–1")
		slice := f.Duration("slice", 10*time.Millisecond, "burns for so long at a time")
		switched := f.Bool("switched", false, "idle until SIGUSR1, which turns it on and off")
		if err := parse(); err != nil {
			return err
		}
		busy := toggled(!*switched)
		ready()
		for range *threads {
			go func() {
				for busy.await(ctx) {
					burn(*slice)
					if *share < 1 && *share > 0 && !sleep(ctx, time.Duration(float64(*slice)*(1 / *share - 1))) {
						return
					}
				}
			}()
		}
		<-ctx.Done()
		return nil
	},
}

var sleeper = Actor{
	Name:  "sleeper",
	About: "does nothing and has no socket",
	Main: func(ctx context.Context, _ *flag.FlagSet, parse func() error) error {
		if err := parse(); err != nil {
			return err
		}
		ready()
		<-ctx.Done()
		return nil
	},
}

// burn uses that much CPU time of the calling goroutine, by wall clock slices
// that are counted only while it runs: a thread's CPU clock would be exact, but
// the goroutine may move to another thread.
func burn(d time.Duration) {
	const slice = 50 * time.Microsecond
	var used time.Duration
	for used < d {
		start := now()
		for now()-start < slice {
		}
		used += slice
	}
}

func now() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano())
}
