package suspects

import (
	"fmt"
	"strconv"

	"snag/recording"
)

// cpuTime is what the CPUs did in the window, s: all of them, or some.
type cpuTime struct {
	cpus         int
	total        float64
	idle, stolen float64
}

func (c cpuTime) idleShare() float64 { return c.idle / c.total }

func (c cpuTime) stolenShare() float64 { return c.stolen / c.total }

// cpuTimes adds up /proc/stat of the CPUs in the set; nil is all. False where it
// was not measured twice.
func cpuTimes(r *recording.Recording, set map[int]bool) (cpuTime, bool) {
	var out cpuTime
	for _, s := range r.Select("node_cpu_seconds_total") {
		cpu, err := strconv.Atoi(s.Labels["cpu"])
		if err != nil || set != nil && !set[cpu] {
			continue
		}
		n, ok := s.Increase()
		if !ok {
			continue
		}
		out.total += n
		switch s.Labels["mode"] {
		case "idle", "iowait":
			out.idle += n
		case "steal":
			out.stolen += n
		case "user":
			out.cpus++
		}
	}
	return out, out.total > 0
}

// busyIdle is the share of idle time under which all CPUs count as busy: with it
// a thread that wakes up finds no free CPU nine times in ten.
const busyIdle = 0.1

func (c cpuTime) busy() Evidence {
	return Evidence{Side: For, Grade: Strong, Value: 1 - c.idleShare(), Unit: "share", Source: "/proc/stat", Origin: "cpu time",
		Text: fmt.Sprintf("%s were busy for %.0f %% of the time (healthy under 80 %%)", plural(c.cpus, "CPU"), 100*(1-c.idleShare()))}
}
