package baseline

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/recording"
)

type lookup = func(*recording.Recording, recording.Time) []reading

// averageOf is `lookup: average -length` of a counter, one chart for each series:
// its growth per second.
func averageOf(name string, length time.Duration) lookup {
	return func(r *recording.Recording, end recording.Time) []reading {
		var out []reading
		for _, s := range r.Select(name) {
			if v, ok := rate(s, end, length); ok {
				out = append(out, reading{s.Key(), describe(r, s), machineOr(r, s), v})
			}
		}
		return out
	}
}

// together is averageOf for a chart that sums its counter over all CPUs.
func together(name string, length time.Duration) lookup {
	return func(r *recording.Recording, end recording.Time) []reading {
		one := reading{key: name, subject: name}
		seen := false
		for _, v := range averageOf(name, length)(r, end) {
			one.value += v.value
			seen = true
		}
		if !seen {
			return nil
		}
		return []reading{one}
	}
}

func scaled(by float64, l lookup) lookup {
	return func(r *recording.Recording, end recording.Time) []reading {
		all := l(r, end)
		for i := range all {
			all[i].value *= by
		}
		return all
	}
}

// dropRatio is drops of all packets of an interface over 10 minutes, in percent,
// where there were more than atLeast packets.
func dropRatio(way string, atLeast float64) lookup {
	return func(r *recording.Recording, end recording.Time) []reading {
		var out []reading
		for _, s := range r.Select("node_network_" + way + "_drop_total") {
			drops, ok := rate(s, end, 10*minute)
			if !ok {
				continue
			}
			for _, p := range r.Select("node_network_" + way + "_packets_total") {
				if p.Labels["device"] != s.Labels["device"] || p.Labels["netns"] != s.Labels["netns"] {
					continue
				}
				packets, ok := rate(p, end, 10*minute)
				if ok && packets*600 > atLeast {
					out = append(out, reading{s.Key(), describe(r, s), machineOr(r, s), 100 * drops / packets})
				}
			}
		}
		return out
	}
}

// cpuShare is the share of all CPUs' time in those modes, percent.
func cpuShare(length time.Duration, modes ...string) lookup {
	return func(r *recording.Recording, end recording.Time) []reading {
		in, all := 0.0, 0.0
		for _, s := range r.Select("node_cpu_seconds_total") {
			v, ok := rate(s, end, length)
			if !ok {
				continue
			}
			all += v
			if slices.Contains(modes, s.Labels["mode"]) {
				in += v
			}
		}
		if all == 0 {
			return nil
		}
		return one("node_cpu_seconds_total", 100*in/all)
	}
}

// loadShare is a load average as percent of the CPUs, at least two (load.conf:
// load_cpu_number).
func loadShare(name string) lookup {
	return func(r *recording.Recording, end recording.Time) []reading {
		for _, s := range r.Select(name) {
			if v, ok := highest(s, end, minute); ok && r.Manifest.CPUs > 0 {
				return one(name, 100*v/float64(max(2, r.Manifest.CPUs)))
			}
		}
		return nil
	}
}

func one(name string, v float64) []reading { return []reading{{key: name, subject: name, value: v}} }

// ratio is 100·a/b of two gauges of the machine.
func ratio(r *recording.Recording, end recording.Time, name string, of float64) []reading {
	for _, s := range r.Select(name) {
		if v, ok := at(s, end); ok && of > 0 {
			return one(name, 100*v/of)
		}
	}
	return nil
}

func gauge(r *recording.Recording, end recording.Time, name string) (float64, bool) {
	for _, s := range r.Select(name) {
		if v, ok := at(s, end); ok {
			return v, true
		}
	}
	return 0, false
}

func conntrackFill(r *recording.Recording, end recording.Time) []reading {
	limit, _ := gauge(r, end, "node_nf_conntrack_entries_limit")
	return ratio(r, end, "node_nf_conntrack_entries", limit)
}

func fileTable(r *recording.Recording, end recording.Time) []reading {
	limit, _ := gauge(r, end, "node_filefd_maximum")
	return ratio(r, end, "node_filefd_allocated", limit)
}

func orphans(r *recording.Recording, end recording.Time) []reading {
	text, _ := r.FactOf("net.ipv4.tcp_max_orphans", 0)
	limit, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return nil
	}
	var out []reading
	for _, s := range r.Select("node_sockstat_TCP_orphan") {
		if v, ok := at(s, end); ok && limit > 0 {
			out = append(out, reading{s.Key(), describe(r, s), machineOr(r, s), 100 * v / limit})
		}
	}
	return out
}

// processFiles is the fullest descriptor table of each group of like programs.
func processFiles(r *recording.Recording, end recording.Time) []reading {
	fullest := map[string]reading{}
	for _, p := range r.Processes {
		if p.FDs == nil || p.FDLimit <= 0 || p.T > end || p.T <= end.Add(-shortest) {
			continue
		}
		share := 100 * float64(*p.FDs) / float64(p.FDLimit)
		key := p.Comm + "@" + strconv.FormatUint(p.Netns, 10)
		if share >= fullest[key].value {
			fullest[key] = reading{key, p.Comm, p.Netns, share}
		}
	}
	var out []reading
	for _, v := range fullest {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b reading) int { return strings.Compare(a.key, b.key) })
	return out
}

// groupUsage is a control group's CPU time as percent of its quota over 10 minutes.
// Where the group's own meter was not recorded (version 1 keeps it in another
// controller), it is the sum over its processes.
func groupUsage(r *recording.Recording, end recording.Time) []reading {
	var out []reading
	seen := map[string]bool{}
	for _, c := range r.Cgroups {
		if c.Quota <= 0 || c.Period <= 0 || seen[c.Path] {
			continue
		}
		seen[c.Path] = true
		used, ok := 0.0, false
		for _, s := range r.Select("snag_cgroup_cpu_usage_seconds_total", "cgroup", c.Path) {
			used, ok = rate(s, end, 10*minute)
		}
		if !ok {
			used, ok = processesIn(r, c.Path, end)
		}
		if ok {
			out = append(out, reading{c.Path, "cgroup " + c.Path, 0, 100 * used / (c.Quota / c.Period)})
		}
	}
	return out
}

// processesIn is the CPU time per second of a group's processes.
func processesIn(r *recording.Recording, group string, end recording.Time) (float64, bool) {
	type ends struct{ first, last recording.Process }
	of := map[int]ends{}
	for _, p := range r.Processes {
		if p.Cgroup != group || p.T > end {
			continue
		}
		e, seen := of[p.PID]
		if !seen {
			e.first = p
		}
		e.last = p
		of[p.PID] = e
	}
	sum, ok := 0.0, false
	for _, e := range of {
		if d := e.last.T.Sub(e.first.T).Seconds(); d > 0 {
			sum += (e.last.CPU - e.first.CPU) / d
			ok = true
		}
	}
	return sum, ok
}
