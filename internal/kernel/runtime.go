package kernel

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// RunTime measures for how much of a short while BPF programs run, CPU seconds a
// second. The kernel counts that only while somebody asks it to (BPF_ENABLE_STATS,
// since 5.8), which makes every program of the host slower by some 20 ns a run: so
// it is asked for the while only, and sleeps through it.
func RunTime(programs []*ebpf.Program, while time.Duration) (float64, error) {
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		return 0, fmt.Errorf("count the run time of BPF programs: %w", err)
	}
	defer stats.Close()
	began := time.Now()
	before, err := ranFor(programs)
	if err != nil {
		return 0, err
	}
	time.Sleep(while)
	after, err := ranFor(programs)
	if err != nil {
		return 0, err
	}
	return max(0, (after-before).Seconds()/time.Since(began).Seconds()), nil
}

func ranFor(programs []*ebpf.Program) (time.Duration, error) {
	var sum time.Duration
	for _, p := range programs {
		s, err := p.Stats()
		if err != nil {
			return 0, fmt.Errorf("read the run time of a BPF program: %w", err)
		}
		sum += s.Runtime
	}
	return sum, nil
}
