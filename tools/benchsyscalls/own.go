package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"snag/tools/workload"
)

// own prints what snag itself takes, and the longest gap of a program that does
// nothing but calls, traced and not.
func own(snag string, all []tracer, window time.Duration, rounds int) error {
	p, err := workload.Start(workload.Calls)
	if err != nil {
		return err
	}
	defer p.End()
	took, cpu, memory := time.Hour, 0.0, 0.0
	for range rounds {
		t, c, m, err := once(snag, p.PID())
		if err != nil {
			return err
		}
		if t < took {
			took, cpu = t, c
		}
		memory = max(memory, m)
	}
	fmt.Printf("\n| snag syscalls itself | |\n|---|---|\n| start: from exec until calls are counted | %.2f s |\n| CPU of it, start and end included | %.2f s |\n| peak memory (RSS) | %.0f MB |\n",
		took.Seconds(), cpu, memory)
	fmt.Print("\n| longest gap of a getppid loop, ms | median | worst |\n|---|---|---|\n")
	for _, t := range append([]tracer{{name: "bare"}}, all...) {
		var gaps []float64
		for range max(rounds, 3) {
			g, err := gapOf(t, 2*window)
			if err != nil {
				fmt.Fprintf(os.Stderr, "benchsyscalls: gaps with %s: %v\n", t.name, err)
				continue
			}
			gaps = append(gaps, g/1e6)
		}
		if len(gaps) == 0 {
			continue
		}
		fmt.Printf("| %s | %.2f | %.2f |\n", t.name, median(gaps), worst(gaps))
	}
	return nil
}

// once runs it for a second: how long it took to begin, its CPU time and memory in MB.
func once(snag string, pid int) (start time.Duration, cpu, memory float64, err error) {
	began := time.Now()
	cmd := exec.Command(snag, "syscalls", "-q", "--json", "--for", "1s", "--pid", strconv.Itoa(pid))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, 0, 0, fmt.Errorf("snag syscalls: %w", err)
	}
	var said struct {
		Coverage []struct {
			Probe string
			Since int64 // ns since the epoch
		}
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return 0, 0, 0, fmt.Errorf("snag syscalls --json: %w", err)
	}
	for _, c := range said.Coverage {
		if c.Probe == "syscalls.calls" {
			start = time.Unix(0, c.Since).Sub(began)
		}
	}
	state := cmd.ProcessState
	return start, state.UserTime().Seconds() + state.SystemTime().Seconds(), float64(state.SysUsage().(*syscall.Rusage).Maxrss) / 1e3, nil
}

func gapOf(t tracer, window time.Duration) (float64, error) {
	p, err := workload.Start(workload.Calls)
	if err != nil {
		return 0, err
	}
	defer p.End()
	if err := p.RealTime(); err != nil {
		fmt.Fprintln(os.Stderr, "benchsyscalls:", err)
	}
	stop, err := t.attach(p.PID())
	if err != nil {
		return 0, err
	}
	defer stop()
	d, err := p.Work(window)
	return float64(d.Gap), err
}

func median(v []float64) float64 {
	s := sorted(v)
	return s[len(s)/2]
}

func worst(v []float64) float64 {
	s := sorted(v)
	return s[len(s)-1]
}
