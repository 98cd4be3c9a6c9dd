package host

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"snag/probes/probe"
	"snag/recording"
)

// Bounds: a host with thousands of containers must not be walked each second.
const (
	mostGroups = 300  // measured
	mostWalked = 4000 // directories looked at for a quota
)

// cgroups measures the control groups that hold the processes of interest or
// have a quota, in both versions.
type cgroups struct {
	env   *probe.Env
	meter *meter
	once  *notices
	top   string         // where they are mounted
	roots map[int]string // by version; absent: not mounted, or without the cpu controller
	usage string         // of v1's cpuacct
	seen  map[group]*groupSeen
	quota map[group]bool
	// limited are the groups with a limit of their memory: directory, path.
	limited map[string]string
	told    map[string]map[string]bool // facts that were written, by path
}

// groupSeen is a group's last row, its labels and its first count.
type groupSeen struct {
	row    recording.Cgroup
	labels recording.Labels
	begun  *float64
	span   throttledSpan
}

// newCgroups finds the hierarchies where systemd and the distributions mount
// them: /sys/fs/cgroup itself or below it.
func newCgroups(env *probe.Env, m *meter, once *notices) *cgroups {
	c := &cgroups{
		env: env, meter: m, once: once, roots: map[int]string{},
		seen: map[group]*groupSeen{}, quota: map[group]bool{}, told: map[string]map[string]bool{},
	}
	c.find(filepath.Join(env.Sys, "fs/cgroup"))
	if len(c.roots) == 0 && sameCgroups(env.Proc) {
		c.find(filepath.Join(env.Proc, "1/root/sys/fs/cgroup"))
	}
	return c
}

// sameCgroups reports whether the paths of groups mean the same for process 1 and for snag. ip netns exec mounts a /sys
// of its own over the one that has the groups, and process 1 still has that one.
func sameCgroups(proc string) bool {
	own, err := os.Readlink(filepath.Join(proc, "self/ns/cgroup"))
	first, err2 := os.Readlink(filepath.Join(proc, "1/ns/cgroup"))
	return err == nil && err2 == nil && own == first
}

// find looks below a folder for the hierarchies.
func (c *cgroups) find(top string) {
	c.top = top
	for _, name := range []string{"cpu", "cpu,cpuacct", "cpuacct,cpu"} {
		if exists(filepath.Join(top, name, "cgroup.procs")) {
			c.roots[1] = filepath.Join(top, name)
			break
		}
	}
	for _, name := range []string{"cpuacct", "cpu,cpuacct", "cpu"} {
		if exists(filepath.Join(top, name, "cpuacct.usage")) {
			c.usage = filepath.Join(top, name)
			break
		}
	}
	for _, name := range []string{".", "unified"} {
		if exists(filepath.Join(top, name, "cgroup.controllers")) {
			c.roots[2] = filepath.Join(top, name)
			break
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (c *cgroups) measure(groups map[group]bool, walk bool) {
	c.meter.run("host.cgroup", func(t recording.Time) error {
		if len(c.roots) == 0 {
			return &probe.Unavailable{
				Why:  "no control groups of the cpu controller below " + filepath.Join(c.env.Sys, "fs/cgroup"),
				Cure: "mount cgroup2 at /sys/fs/cgroup",
			}
		}
		if walk {
			c.findQuotas()
		}
		for g := range c.quota {
			groups[g] = true
		}
		done := 0
		for g := range groups {
			if done >= mostGroups && !c.quota[g] {
				c.meter.note("host.cgroup", fmt.Sprintf("%d control groups without a quota were not measured", len(groups)-mostGroups), "")
				continue
			}
			done++
			c.one(t, g, walk)
		}
		if walk {
			c.forget(groups)
		}
		return nil
	})
}

// again writes the limits of all groups again, for a piece of a ring that begins. The ring forgets those that
// are not written again.
func (c *cgroups) again() {
	clear(c.told) // facts are written at the next look
	for _, seen := range c.seen {
		if row := seen.row; row.Quota > 0 {
			row.T = c.env.Now()
			c.env.Sink.Append(row)
		}
	}
}

// forget forgets the groups that are not measured any more. A host makes and removes thousands in a day.
func (c *cgroups) forget(measured map[group]bool) {
	for g, seen := range c.seen {
		if measured[g] {
			continue
		}
		if e := seen.span.end(seen.span.at); e != nil {
			c.env.Sink.Append(*e)
		}
		delete(c.seen, g)
	}
}

// cureCgroups is of a container that has control groups of its own; what it does not see it must not clear
// (recording.Coverage.Withheld).
const cureCgroups = "run snag on the host, or its container with the host's control groups (docker run --cgroupns=host; in Kubernetes as root with CAP_SYS_ADMIN, and /sys/fs/cgroup of the host)"

// one measures one group.
func (c *cgroups) one(t recording.Time, g group, settings bool) {
	dir, ok := c.dir(g)
	if !ok {
		c.meter.note("host.cgroup", "control groups outside snag's own cgroup namespace were not measured", cureCgroups)
		return
	}
	data, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		delete(c.quota, g)
		return
	}
	seen := c.seen[g]
	if seen == nil {
		seen = &groupSeen{labels: recording.Labels{"cgroup": g.Path}}
		c.seen[g] = seen
		settings = true
	}
	if settings {
		row := recording.Cgroup{Path: g.Path, Version: g.Version, Unit: unitOf(g.Path)}
		row.Quota, row.Period = c.limits(g.Version, dir)
		if row != seen.row && (row.Quota > 0 || seen.row.Quota > 0) {
			seen.row = row
			row.T = t
			c.env.Sink.Append(row)
		}
	}
	stat := parseCPUStat(data)
	if g.Version == 1 && c.usage != "" {
		// The hierarchies may differ: the group's path in cpu need not be in cpuacct.
		if data, err := os.ReadFile(filepath.Join(c.usage, g.Path, "cpuacct.usage")); err == nil {
			v := parseMicroseconds(data) / 1e3 // it is in ns
			stat.Usage = &v
		}
	}
	if stat.Usage != nil {
		c.env.Sink.Sample(t, "snag_cgroup_cpu_usage_seconds_total", seen.labels, *stat.Usage)
	}
	if s := stat.Throttling; s != nil {
		c.env.Sink.Sample(t, "snag_cgroup_cpu_periods_total", seen.labels, s.Periods)
		c.env.Sink.Sample(t, "snag_cgroup_cpu_throttled_periods_total", seen.labels, s.Throttled)
		c.env.Sink.Sample(t, "snag_cgroup_cpu_throttled_seconds_total", seen.labels, s.Seconds)
		c.throttled(t, g, seen, *s)
		if seen.begun == nil {
			seen.begun = &s.Throttled
		} else if s.Throttled > *seen.begun {
			c.once.first("throttled", g.Path, func() string { return "first throttling of the control group " + g.Path })
		}
	}
}

// dir is where a group's files are. A path with ".." is outside of the cgroup
// namespace (cgroup_namespaces(7)).
func (c *cgroups) dir(g group) (string, bool) {
	root, ok := c.roots[g.Version]
	if !ok || strings.Contains(g.Path+"/", "/../") {
		return "", false
	}
	return filepath.Join(root, g.Path), true
}

// limits returns the quota and period of a group, seconds; 0: none.
func (c *cgroups) limits(version int, dir string) (quota, period float64) {
	if version == 2 {
		data, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
		if err != nil {
			return 0, 0 // the root, or no cpu controller: no limit
		}
		return parseCPUMax(data)
	}
	data, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us"))
	if err != nil {
		return 0, 0
	}
	if quota = parseMicroseconds(data); quota == 0 {
		return 0, 0
	}
	if data, err = os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us")); err != nil {
		return 0, 0
	}
	return quota, parseMicroseconds(data)
}

// findQuotas walks the hierarchies for groups with a quota.
func (c *cgroups) findQuotas() {
	walked := 0
	for version, root := range c.roots {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil // a group that went while it was walked
			}
			if walked++; walked > mostWalked {
				c.meter.note("host.cgroup", fmt.Sprintf("only the first %d control groups were searched for a quota", mostWalked), "")
				return fs.SkipAll
			}
			if quota, _ := c.limits(version, path); quota > 0 {
				rel, _ := filepath.Rel(root, path)
				c.quota[group{filepath.Join("/", rel), version}] = true
			}
			return nil
		})
	}
}
