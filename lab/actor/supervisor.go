package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var supervisor = Actor{
	Name:  "supervisor",
	About: "runs a program and starts it again when it has ended; SIGUSR2 begins and ends that it kills it every now and then",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		away := f.Duration("away", time.Second, "between an end and the next start")
		lives := f.Duration("lives", time.Second, "how long it then runs before it is killed again")
		if err := parse(); err != nil {
			return err
		}
		if f.NArg() == 0 {
			return errors.New("give the program's command after --")
		}
		runtime.LockOSThread() // the program is killed when the thread ends that started it
		well := switched(ctx, unix.SIGUSR2, true, "well")
		for ctx.Err() == nil {
			cmd := exec.CommandContext(ctx, f.Arg(0), f.Args()[1:]...)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			begun, ended := time.Now(), make(chan error, 1)
			if err := cmd.Start(); err != nil {
				return err
			}
			fmt.Println("started", cmd.Process.Pid)
			go func() { ended <- cmd.Wait() }()
			for over := false; !over; {
				select {
				case err := <-ended:
					fmt.Println("it ended:", err)
					over = true
				case <-time.After(20 * time.Millisecond):
					if !well.Load() && time.Since(begun) > *lives {
						_ = cmd.Process.Kill()
					}
				}
			}
			sleep(ctx, *away)
		}
		return nil
	},
}
