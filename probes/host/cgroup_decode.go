package host

import (
	"bytes"
	"strconv"

	"snag/internal/procfile"
)

// cpuStat is what of a control group's cpu.stat is recorded. Throttling is nil
// where the group has no cpu controller: not the same as never throttled.
type cpuStat struct {
	Throttling *throttling
	Usage      *float64 // seconds
}

// throttling are running totals.
type throttling struct {
	Periods, Throttled float64
	Seconds            float64 // summed over the CPUs
}

// parseCPUStat reads cpu.stat of either version: v1 tells throttled_time in ns
// (kernel Documentation/scheduler/sched-bwc.rst), v2 throttled_usec and
// usage_usec (Documentation/admin-guide/cgroup-v2.rst).
func parseCPUStat(data []byte) cpuStat {
	var s cpuStat
	var t throttling
	found := false
	for len(data) > 0 {
		var line []byte
		line, data = procfile.CutLine(data)
		name, rest := procfile.CutField(line)
		value, _ := procfile.CutField(rest)
		v, ok := procfile.Number(value)
		if !ok {
			continue
		}
		switch string(name) {
		case "nr_periods":
			t.Periods, found = v, true
		case "nr_throttled":
			t.Throttled = v
		case "throttled_time":
			t.Seconds = v / 1e9
		case "throttled_usec":
			t.Seconds = v / 1e6
		case "usage_usec":
			usage := v / 1e6
			s.Usage = &usage
		}
	}
	if found {
		s.Throttling = &t
	}
	return s
}

// parseCPUMax reads cpu.max of v2: "50000 100000" or "max 100000", µs. A quota
// of 0 is none.
func parseCPUMax(data []byte) (quota, period float64) {
	a, rest := procfile.CutField(bytes.TrimSpace(data))
	b, _ := procfile.CutField(rest)
	q, ok1 := procfile.Number(a)
	p, ok2 := procfile.Number(b)
	if !ok1 || !ok2 || q <= 0 || p <= 0 {
		return 0, 0
	}
	return q / 1e6, p / 1e6
}

// parseMicroseconds reads cpu.cfs_quota_us and cpu.cfs_period_us of v1; −1 is no
// quota and comes back as 0.
func parseMicroseconds(data []byte) float64 {
	v, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64)
	if err != nil || v < 0 {
		return 0
	}
	return float64(v) / 1e6
}
