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
		switched := f.Bool("switched", false, "idle until SIGUSR1, which turns it on and off")
		if err := parse(); err != nil {
			return err
		}
		busy := toggled(!*switched)
		if *pid <= 1 {
			return errors.New("--pid must be above 1")
		}
		// Never leave the process stopped behind.
		defer syscall.Kill(*pid, syscall.SIGCONT)
		ready()
		for busy.await(ctx) {
			if err := syscall.Kill(*pid, syscall.SIGSTOP); err != nil {
				return fmt.Errorf("stop process %d: %w", *pid, err)
			}
			busy.sleep(ctx, *stop)
			if err := syscall.Kill(*pid, syscall.SIGCONT); err != nil {
				return fmt.Errorf("continue process %d: %w", *pid, err)
			}
			sleep(ctx, *run)
		}
		return nil
	},
}
