package measure

import (
	"fmt"
	"strconv"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// CPUTime is what the CPUs did in the window, s: all of them, or some.
type CPUTime struct {
	CPUs         int
	Total        float64
	Idle, Stolen float64
}

// IdleShare is the part of the time that they were idle.
func (c CPUTime) IdleShare() float64 { return c.Idle / c.Total }

// StolenShare is the part of the time that the hypervisor gave to others.
func (c CPUTime) StolenShare() float64 { return c.Stolen / c.Total }

// CPUTimes adds up /proc/stat of the CPUs in the set; nil is all. False where it
// was not measured twice.
func CPUTimes(r *recording.Recording, set map[int]bool) (CPUTime, bool) {
	var out CPUTime
	for _, s := range r.Select("node_cpu_seconds_total") {
		cpu, err := strconv.Atoi(s.Labels["cpu"])
		if err != nil || set != nil && !set[cpu] {
			continue
		}
		n, ok := s.Increase()
		if !ok {
			continue
		}
		out.Total += n
		switch s.Labels["mode"] {
		case "idle", "iowait":
			out.Idle += n
		case "steal":
			out.Stolen += n
		case "user":
			out.CPUs++
		}
	}
	return out, out.Total > 0
}

// BusyIdle is the share of idle time under which all CPUs count as busy: with it
// a thread that wakes up finds no free CPU nine times in ten.
const BusyIdle = 0.1

// Busy is the evidence that these CPUs were busy.
func (c CPUTime) Busy() suspect.Evidence {
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: 1 - c.IdleShare(), Unit: "share", Source: source.CPU("/proc/stat", "", "idle"), Origin: "cpu time",
		Text: fmt.Sprintf("%s were busy for %.0f %% of the time (healthy under 80 %%)", units.Plural(c.CPUs, "CPU"), 100*(1-c.IdleShare()))}
}
