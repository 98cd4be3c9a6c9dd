package measure

import (
	"fmt"
	"strconv"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// CPUTime is what the CPUs did in the window, s: all of them, or some.
type CPUTime struct {
	CPUs         int
	Total        float64
	Idle, Stolen float64
	While        []recording.Interval // only the time that these cover; nil: the window
}

// IdleShare is the part of the time that they were idle.
func (c CPUTime) IdleShare() float64 { return c.Idle / c.Total }

// StolenShare is the part of the time that the hypervisor gave to others.
func (c CPUTime) StolenShare() float64 { return c.Stolen / c.Total }

// CPUTimes adds up /proc/stat of the CPUs in the set; nil is all. False where it
// was not measured twice.
func CPUTimes(r *recording.Recording, set map[int]bool) (CPUTime, bool) {
	return cpuTimes(r, set, nil)
}

func cpuTimes(r *recording.Recording, set map[int]bool, while []recording.Interval) (CPUTime, bool) {
	out := CPUTime{While: while}
	for _, s := range r.Select("node_cpu_seconds_total") {
		cpu, err := strconv.Atoi(s.Labels["cpu"])
		if err != nil || set != nil && !set[cpu] {
			continue
		}
		n, ok := s.Increase()
		if !ok {
			continue
		}
		if while != nil {
			n = 0
			for _, step := range StepsOf(s) {
				if intervals.Cover(while, step.End) {
					n += step.N
				}
			}
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

// FullCPUs are the times of all CPUs in the seconds in which they were busy; false where they
// were so for less than some seconds.
func FullCPUs(r *recording.Recording) (CPUTime, bool) {
	total, idle := map[recording.Interval]float64{}, map[recording.Interval]float64{}
	for _, s := range r.Select("node_cpu_seconds_total") {
		for _, step := range StepsOf(s) {
			total[step.Interval] += step.N
			if mode := s.Labels["mode"]; mode == "idle" || mode == "iowait" {
				idle[step.Interval] += step.N
			}
		}
	}
	var full []recording.Interval
	for in, n := range total {
		if idle[in] < BusyIdle*n {
			full = append(full, in)
		}
	}
	if len(full) == 0 {
		return CPUTime{}, false
	}
	full = intervals.Merge(full, 0)
	out, ok := cpuTimes(r, nil, full)
	return out, ok && intervals.Seconds(full, 0) >= fullFor
}

// fullFor seconds are no burst of some process that begins.
const fullFor = 3

// BusyIdle is the share of idle time under which all CPUs count as busy: with it
// a thread that wakes up finds no free CPU nine times in ten.
const BusyIdle = 0.1

// Busy is the evidence that these CPUs were busy.
func (c CPUTime) Busy() suspect.Evidence {
	of := "the time"
	if c.While != nil {
		of = "the " + units.Lasting(intervals.Seconds(c.While, 0)) + " of most of the waiting"
	}
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: 1 - c.IdleShare(), Unit: "share", Source: source.CPU("/proc/stat", "", "idle"), Origin: "cpu time",
		Text: fmt.Sprintf("%s were busy for %.0f %% of %s (healthy under 80 %%)", units.Plural(c.CPUs, "CPU"), 100*(1-c.IdleShare()), of)}
}
