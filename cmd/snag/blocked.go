package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/probes/blocked"
	"snag/probes/probe"
	"snag/recording"
	"snag/report"
)

type blockedFlags struct {
	target     recording.Target
	all        bool
	window     time.Duration
	json       bool
	allThreads bool
	top        int
}

// mostThreads are looked at: a look takes about 40 µs per thread.
const mostThreads = 20000

func blockedCommand() *cobra.Command {
	var f blockedFlags
	cmd := &cobra.Command{
		Use:   "blocked",
		Short: "List the threads that are stuck in a system call now, and on what",
		Long: `List every thread that sits in a system call: for how long, in which kernel function,
and on what: the socket's other end and its queues, the lock and who holds it. It looks
twice and shows who did not move; threads that wait for work (epoll_wait, a condition,
accept, nanosleep) are counted and not listed, unless --all-threads. It attaches nothing.

How long: by the scheduler's account of when the thread last ran, where the kernel has
one (/proc/PID/sched); else since the first look, marked ≥.`,
		Example: `  sudo snag blocked
  sudo snag blocked --pid 812 --for 3s --all-threads`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return showBlocked(cmd, f) },
	}
	flags := cmd.Flags()
	addTarget(cmd, &f.target, "look at")
	flags.BoolVar(&f.all, "all", false, "look at every process (the default)")
	flags.DurationVar(&f.window, "for", time.Second, "time between the two samples, as 300ms or 3s")
	flags.BoolVar(&f.allThreads, "all-threads", false, "list idle threads too")
	flags.BoolVar(&f.json, "json", false, "JSON on standard output (docs/syscalls.md)")
	flags.IntVar(&f.top, "top", 40, "list at most so many")
	return cmd
}

func (f *blockedFlags) check(cmd *cobra.Command) error {
	if given(cmd, targets, "all") > 1 {
		return cli.Usage("one of --pid, --unit, --port, --container, --pod, --netns, --all")
	}
	if err := checkTarget(cmd, f.target); err != nil {
		return err
	}
	switch {
	case f.window < 100*time.Millisecond || f.window > 10*time.Minute:
		return cli.Usage("--for %s: from 100ms to 10m", f.window)
	case f.top < 1:
		return cli.Usage("--top %d: at least 1", f.top)
	}
	return nil
}

// whom names whose threads were to be looked at.
func (f *blockedFlags) whom() string {
	switch {
	case f.target.PID != 0:
		return fmt.Sprintf("process %d", f.target.PID)
	case f.target.Unit != "":
		return "the unit " + f.target.Unit
	case f.target.Port != 0:
		return fmt.Sprintf("who listens on port %d", f.target.Port)
	case f.target.Netns != "":
		return "the network namespace " + f.target.Netns
	}
	return "all processes"
}

func showBlocked(cmd *cobra.Command, f blockedFlags) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	own, err := ownNetns()
	if err != nil {
		return err
	}
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Netns: own}
	pids, err := blocked.Everyone(env.Proc)
	if err != nil {
		return err
	}
	if f.target.Name() != "" {
		target, err := resolved(f.target)
		if err != nil {
			return err
		}
		pids = target.PIDs
		if err := hasCalls(env.Proc, f.target.PID); err != nil {
			return err
		}
	}
	pids = slices.DeleteFunc(pids, func(pid int) bool { return pid == env.SelfPID })
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	found := blocked.Look(ctx, env, pids, f.window, mostThreads)
	named := f.target.PID != 0 || f.target.Unit != "" || f.target.Port != 0
	switch {
	case named && found.Threads == 0:
		return fmt.Errorf("look at the threads of %s: there are none any more, they have ended", f.whom())
	case found.Threads > 0 && found.Refused >= found.Threads:
		return fmt.Errorf("look at the calls of %s: %w (%s)", f.whom(), found.Refusal, blocked.CureRefused())
	}
	v := &report.Blocked{
		Processes: found.Processes, Threads: found.Threads, Running: found.Running, Left: found.Left, Refused: found.Refused,
		Seconds: found.Seconds, Blocked: []report.BlockedThread{}, Waiting: []report.RingWait{}, Warnings: append([]string{}, found.Warnings...),
	}
	for _, w := range found.Waiting {
		v.Waiting = append(v.Waiting, report.RingWait{PID: w.PID, Comm: w.Comm, Ring: w.FD, Call: w.Call, N: w.N, Idle: w.Idle})
	}
	for _, t := range found.Stuck {
		row := report.BlockedThread{
			PID: t.PID, TID: t.TID, Comm: t.Comm, Call: t.Syscall, Seconds: t.Seconds, AtLeast: !t.Exact,
			On: t.On, State: t.State, Wchan: t.Wchan, Idle: t.Idle,
		}
		if t.FD >= 0 {
			row.FD = strconv.Itoa(t.FD)
		}
		if t.Lock {
			row.Lock, row.Holder = "0x"+strconv.FormatUint(t.Futex, 16), t.Owner
		}
		v.Blocked = append(v.Blocked, row)
	}
	report.SortBlocked(v.Blocked)
	if f.json {
		return report.WriteBlockedJSON(os.Stdout, v)
	}
	return report.WriteBlocked(os.Stdout, v, report.TableOptions{Width: columns(), Most: f.top}, f.allThreads)
}
