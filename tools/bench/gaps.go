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
	look time.Duration
}{
	{"bare", nil, 2 * time.Second},
	{"snag find --pid", []string{"find", "--quiet", "--json"}, 4 * time.Second}, // closer from 2 s on
	{"snag profile --pid", []string{"profile", "--quiet"}, 2 * time.Second},
	{"snag profile --off --pid", []string{"profile", "--off", "--quiet"}, 2 * time.Second},
	{"snag syscalls --pid", []string{"syscalls", "--quiet", "--json"}, 2 * time.Second},
}

// around is how much longer the program works than snag looks at it: its start and its
// end are seen too.
const around = 1800 * time.Millisecond

// gaps prints the longest that a program with real-time priority, which nothing but
// interrupts, the hypervisor or a lock in the kernel can keep from its work, was kept
// from it: while snag starts, looks at it, and ends.
func gaps(snag string, rounds int) error {
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
				d, err := gapOf(load, snag, o.args, o.look)
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

func gapOf(load, snag string, args []string, look time.Duration) (d workload.Done, err error) {
	p, err := workload.Start(load)
	if err != nil {
		return d, err
	}
	defer p.End()
	if err := p.RealTime(); err != nil {
		return d, err
	}
	if args == nil {
		return p.Work(look + around)
	}
	dir, err := os.MkdirTemp("", "snag-bench")
	if err != nil {
		return d, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command(snag, append(slices.Clone(args), "--for", look.String(), "--pid", strconv.Itoa(p.PID()), "--out", dir+"/r")...)
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	ended := make(chan error, 1)
	time.AfterFunc(200*time.Millisecond, func() { ended <- cmd.Run() })
	d, err = p.Work(look + around)
	if e := <-ended; err == nil && !judged(e) {
		err = fmt.Errorf("%w: %s", e, said.String())
	}
	return d, err
}
