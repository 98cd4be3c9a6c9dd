package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"snag/tools/workload"
)

// byDefault is the window of a find that is not told another.
const byDefault = 30 * time.Second

// said is what own needs of find's JSON.
type said struct {
	Coverage []struct {
		Probe string  `json:"probe"`
		Since string  `json:"since"`
		Cost  float64 `json:"cost_cpu_seconds"`
	} `json:"coverage"`
}

// waits are measures that begin when there is somebody to look at closer.
var waits = map[string]bool{
	"offcpu.waits": true, "offcpu.stacks": true, "locks.futex": true, "locks.owner": true,
	"syscalls.calls": true, "syscalls.fds": true, "jvm.safepoints": true,
}

// own prints snag's own start, memory and CPU, with a ping-pong beside it.
func own(snag string, window time.Duration) error {
	p, err := workload.Start(workload.PingPong)
	if err != nil {
		return err
	}
	defer p.End()
	go func() { _, _ = p.Work(time.Hour) }() // ends with the program
	dir, err := os.MkdirTemp("", "snag-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command(snag, "find", "--quiet", "--json", "--for", window.String(), "--out", filepath.Join(dir, "r"))
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	began := time.Now()
	if err := cmd.Run(); !judged(err) {
		return fmt.Errorf("snag find: %w: %s", err, problems.String())
	}
	wall := time.Since(began)
	var doc said
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		return fmt.Errorf("read the JSON of snag find: %w", err)
	}
	latest, measuring, whole := began, 0.0, map[string]bool{}
	for _, c := range doc.Coverage {
		whole[c.Probe] = true
		if waits[c.Probe] {
			continue
		}
		if t, err := time.Parse(time.RFC3339Nano, c.Since); err == nil && t.After(latest) {
			latest = t
		}
	}
	for _, c := range doc.Coverage {
		// A probe's own row sums its measures.
		if probe, _, part := strings.Cut(c.Probe, "."); !part || !whole[probe] {
			measuring += c.Cost
		}
	}
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	machine := float64(runtime.NumCPU())
	fmt.Printf("\n| snag find --for %s itself | |\n|---|---|\n", window)
	fmt.Printf("| start: from exec to the last probe measuring | %.2f s |\n", latest.Sub(began).Seconds())
	fmt.Printf("| start and end, the verdict included, on the clock | %.2f s |\n", (wall - window).Seconds())
	fmt.Printf("| peak memory | %.0f MB |\n", float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024)
	fmt.Printf("| CPU, all of it | %.2f s |\n", cpu)
	fmt.Printf("| of it start, end, verdict, the collector | %.2f s = %.2f %% of %v of the machine |\n",
		cpu-measuring, 100*(cpu-measuring)/(byDefault.Seconds()*machine), byDefault)
	for _, c := range doc.Coverage {
		if c.Cost > 0.001*window.Seconds() && !strings.Contains(c.Probe, ".") {
			fmt.Printf("| CPU of %s | %.3f s = %.2f %% of a core |\n", c.Probe, c.Cost, 100*c.Cost/window.Seconds())
		}
	}
	return nil
}
