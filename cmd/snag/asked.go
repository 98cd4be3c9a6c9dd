package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// enders are the signals that end a recording early; what was seen until then is judged.
// Ctrl-C and Ctrl-\ from the terminal, SIGTERM from a service manager, and SIGHUP where the
// terminal was closed: the recording is whole then, and snag judge shows it again.
func enders() []os.Signal {
	all := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup(1) has it
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// untilAsked gives a context that ends with the first of those signals. The second ends
// snag at once, says last to standard error and leaves what is on the disk; but not a
// second SIGHUP: of a terminal that is closed the kernel sends one and the shell another.
// over is to be called when all is done.
func untilAsked(parent context.Context, last func() string) (ctx context.Context, over func()) {
	asked := make(chan os.Signal, 4)
	signal.Notify(asked, enders()...)
	ctx, cancel := context.WithCancel(parent)
	done := make(chan struct{})
	go func() {
		for n := 0; ; {
			select {
			case s := <-asked:
				if n++; n == 1 {
					cancel()
				} else if s != syscall.SIGHUP {
					dieOf(s, last())
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(asked)
		cancel()
		close(done)
	}
}

// dieOf ends snag as the signal would have ended it, so that a script that runs it ends too.
// Of SIGQUIT a Go program would print its stacks.
func dieOf(s os.Signal, last string) {
	if last != "" {
		fmt.Fprintf(os.Stderr, "snag: %s\n", last)
	}
	n, ok := s.(syscall.Signal)
	if !ok || !slices.Contains([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, n) {
		n = syscall.SIGTERM
	}
	signal.Reset(n)
	_ = syscall.Kill(os.Getpid(), n)
	select {} // the signal is on its way
}

// keptIn says where a recording is that was not judged.
func keptIn(dir string) func() string {
	return func() string {
		return fmt.Sprintf("ended by a second signal before the verdict: what was recorded is in %s, judge it with snag judge %s", dir, dir)
	}
}
