package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"syscall"
	"time"
)

var stopper = Actor{
	Name:  "stopper",
	About: "stops a process and lets it go on, again and again, as a debugger or a script does",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		pid := f.Int("pid", 0, "process")
		stop := f.Duration("stop", 3*time.Second, "how long it is stopped")
		run := f.Duration("run", time.Second, "how long it then goes on")
		if err := parse(); err != nil {
			return err
		}
		if *pid <= 1 {
			return errors.New("--pid must be above 1")
		}
		// Never leave the process stopped behind.
		defer syscall.Kill(*pid, syscall.SIGCONT)
		ready()
		for {
			if err := syscall.Kill(*pid, syscall.SIGSTOP); err != nil {
				return fmt.Errorf("stop process %d: %w", *pid, err)
			}
			if !sleep(ctx, *stop) {
				return nil
			}
			if err := syscall.Kill(*pid, syscall.SIGCONT); err != nil {
				return fmt.Errorf("continue process %d: %w", *pid, err)
			}
			if !sleep(ctx, *run) {
				return nil
			}
		}
	},
}
