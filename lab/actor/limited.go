package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

var limited = Actor{
	Name:  "limited",
	About: "joins a cgroup, takes a priority and CPUs, then becomes the program after --",
	Main: func(_ context.Context, f *flag.FlagSet, parse func() error) error {
		procs := f.String("procs", "", "cgroup.procs file of the group to join")
		nice := f.Int("nice", 0, "priority, -20 to 19")
		cpus := f.String("cpus", "", "CPUs to run on, as 0,2; none is all")
		if err := parse(); err != nil {
			return err
		}
		if f.NArg() == 0 {
			return errors.New("no program given after --")
		}
		path, err := exec.LookPath(f.Arg(0))
		if err != nil {
			return err
		}
		if *procs != "" {
			if err := os.WriteFile(*procs, []byte(fmt.Sprint(os.Getpid())), 0); err != nil {
				return fmt.Errorf("join the cgroup: %w", err)
			}
		}
		// A priority is a thread's; the thread that calls execve is the one that stays.
		runtime.LockOSThread()
		if *nice != 0 {
			if err := unix.Setpriority(unix.PRIO_PROCESS, 0, *nice); err != nil {
				return fmt.Errorf("set priority %d: %w", *nice, err)
			}
		}
		if *cpus != "" {
			if err := bind(*cpus); err != nil {
				return err
			}
		}
		return syscall.Exec(path, f.Args(), os.Environ())
	},
}

func bind(cpus string) error {
	var set unix.CPUSet
	for _, one := range strings.Split(cpus, ",") {
		cpu, err := strconv.Atoi(one)
		if err != nil {
			return fmt.Errorf("bind to CPUs %q: %w", cpus, err)
		}
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bind to CPUs %s: %w", cpus, err)
	}
	return nil
}
