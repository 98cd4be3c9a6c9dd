package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"snag/tools/workload"
)

// observers are the ways in which snag looks closely at a process.
var observers = []struct {
	name string
	args []string
}{
	{"bare", nil},
	{"snag find --pid", []string{"find", "--quiet", "--json"}},
	{"snag profile --pid", []string{"profile", "--quiet"}},
	{"snag profile --off --pid", []string{"profile", "--off", "--quiet"}},
	{"snag syscalls --pid", []string{"syscalls", "--quiet", "--json"}},
}

// gaps prints the longest that a program with real-time priority, which nothing but
// interrupts, the hypervisor or a lock in the kernel can keep from its work, was kept
// from it: while snag starts, looks at it, and ends.
func gaps(snag string, rounds int, window time.Duration) error {
	fmt.Print("\n| longest gap of a program, ms: median, worst (gaps over 1 ms) |")
	for _, o := range observers {
		fmt.Printf(" %s |", o.name)
	}
	fmt.Print("\n|---|---|---|---|---|---|\n")
	for _, load := range []string{workload.Calls, workload.Maps} {
		found := make([][]float64, len(observers))
		over := make([]int, len(observers))
		for range rounds {
			for i, o := range observers {
				d, err := gapOf(load, snag, o.args, window)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", load, o.name, err)
				}
				found[i] = append(found[i], d.Gap.Seconds()*1e3)
				over[i] += d.Gaps1ms
			}
		}
		fmt.Printf("| %s |", load)
		for i := range observers {
			fmt.Printf(" %.2f, %.2f (%d) |", median(found[i]), slices.Max(found[i]), over[i])
		}
		fmt.Println()
	}
	return nil
}

// gapOf has the program work for longer than snag looks at it, so that its start and
// its end are seen too.
func gapOf(load, snag string, args []string, window time.Duration) (d workload.Done, err error) {
	p, err := workload.Start(load)
	if err != nil {
		return d, err
	}
	defer p.End()
	if err := p.RealTime(); err != nil {
		return d, err
	}
	if args == nil {
		return p.Work(window)
	}
	dir, err := os.MkdirTemp("", "snag-bench")
	if err != nil {
		return d, err
	}
	defer os.RemoveAll(dir)
	look := max(window-1500*time.Millisecond, time.Second)
	cmd := exec.Command(snag, append(slices.Clone(args), "--for", look.String(), "--pid", strconv.Itoa(p.PID()), "--out", dir+"/r")...)
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	ended := make(chan error, 1)
	time.AfterFunc(200*time.Millisecond, func() { ended <- cmd.Run() })
	d, err = p.Work(window)
	if e := <-ended; err == nil && !judged(e) {
		err = fmt.Errorf("%w: %s", e, said.String())
	}
	return d, err
}
