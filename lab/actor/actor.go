// Package actor holds the programs of the lab's incidents: real processes with
// real sockets, started by re-executing the snag-lab binary with the hidden
// subcommand `actor NAME --comm COMM flags…`. Each ends by itself after a
// bounded time, prints "ready" once its sockets are open, and a line of what it
// did when it ends or every second.
package actor

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// maxLife bounds every actor.
const maxLife = 5 * time.Minute

// Actor is one program. Flags are its own; it runs until its context ends.
type Actor struct {
	Name  string
	About string
	// Main defines its flags on f, calls parse, and does its work.
	Main func(ctx context.Context, f *flag.FlagSet, parse func() error) error
}

// Run runs the actor args[0] with the flags that follow.
func Run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("lab actor: no name given: one of %s", names())
	}
	a, ok := byName(args[0])
	if !ok {
		return fmt.Errorf("lab actor: no actor %q: one of %s", args[0], names())
	}
	f := flag.NewFlagSet(a.Name, flag.ContinueOnError)
	comm := f.String("comm", "", "name of the process, at most 15 bytes")
	life := f.Duration("life", maxLife, "ends on its own after this")
	ctx, cancel := context.WithTimeout(context.Background(), maxLife)
	defer cancel()
	parse := func() error {
		if err := f.Parse(args[1:]); err != nil {
			return fmt.Errorf("lab actor %s: %w", a.Name, err)
		}
		time.AfterFunc(min(*life, maxLife), cancel)
		return setComm(*comm)
	}
	if err := a.Main(ctx, f, parse); err != nil {
		return fmt.Errorf("lab actor %s: %w", a.Name, err)
	}
	return nil
}

func byName(name string) (Actor, bool) {
	for _, a := range All {
		if a.Name == name {
			return a, true
		}
	}
	return Actor{}, false
}

func names() string {
	var s string
	for _, a := range All {
		s += " " + a.Name
	}
	return s[1:]
}

// setComm names every thread: a thread that the runtime starts later takes the
// name of the one that starts it, and the kernel's events carry the thread's.
func setComm(comm string) error {
	if comm == "" {
		return nil
	}
	tasks, err := filepath.Glob("/proc/self/task/*/comm")
	if err != nil {
		return err
	}
	for _, t := range tasks {
		// A thread may have ended since.
		if err := os.WriteFile(t, []byte(comm), 0); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("set the process name %q: %w", comm, err)
		}
	}
	return nil
}

func ready() { fmt.Println("ready") }

// sleep waits for d or the context's end, and reports whether to go on.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
