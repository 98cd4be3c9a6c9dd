package host

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"

	"snag/internal/procfile"
	"snag/recording"
)

// watchedGroup is the groups of one watched process, by controller.
type watchedGroup struct{ unified, memory, blkio string }

// watchedGroups are the groups of the processes that are watched, each once.
func (p *processes) watchedGroups() map[watchedGroup]bool {
	out := map[watchedGroup]bool{}
	for pid, one := range p.known {
		if one.group.Version == 0 || !p.env.Watch.Has(pid) {
			continue
		}
		of := func(controller string) string {
			if path, ok := one.groups[controller]; ok {
				return path
			}
			return one.group.Path
		}
		out[watchedGroup{of("unified"), of("memory"), of("blkio")}] = true
	}
	return out
}

// pressureFiles of a group of version 2 (kernel Documentation/accounting/psi.rst).
var pressureFiles = []struct{ file, some, full string }{
	{"cpu.pressure", "snag_cgroup_pressure_cpu_waiting_seconds_total", "snag_cgroup_pressure_cpu_stalled_seconds_total"},
	{"io.pressure", "snag_cgroup_pressure_io_waiting_seconds_total", "snag_cgroup_pressure_io_stalled_seconds_total"},
	{"memory.pressure", "snag_cgroup_pressure_memory_waiting_seconds_total", "snag_cgroup_pressure_memory_stalled_seconds_total"},
}

// memoryFiles by version: the name of the sample, and the file. A limit of "max"
// or of more than any machine has is none, and is no sample.
var memoryFiles = map[int][]struct{ series, file string }{
	1: {{"snag_cgroup_memory_bytes", "memory.usage_in_bytes"}, {"snag_cgroup_memory_limit_bytes", "memory.limit_in_bytes"}, {"snag_cgroup_memory_limit_hits_total", "memory.failcnt"}},
	2: {{"snag_cgroup_memory_bytes", "memory.current"}, {"snag_cgroup_memory_limit_bytes", "memory.max"}, {"snag_cgroup_memory_high_bytes", "memory.high"}, {"snag_cgroup_memory_swap_bytes", "memory.swap.current"}},
}

// noLimit is what version 1 has for a limit that nobody set: more than any machine has.
const noLimit = 1 << 60

// memoryCounts are what is kept of memory.events and memory.stat (version 2, kernel
// Documentation/admin-guide/cgroup-v2.rst), memory.oom_control and memory.stat (version 1,
// cgroup-v1/memory.rst). Events of a limit are counted where it is set, and refaults are
// pages that were given up and came back.
var memoryCounts = map[string]struct{ series, kind string }{
	"max":                     {"snag_cgroup_memory_limit_hits_total", ""},
	"high":                    {"snag_cgroup_memory_high_hits_total", ""},
	"oom_kill":                {"snag_cgroup_memory_oom_kills_total", ""},
	"pgmajfault":              {"snag_cgroup_memory_major_faults_total", ""},
	"workingset_refault_anon": {"snag_cgroup_memory_refaults_total", "anon"},
	"workingset_refault_file": {"snag_cgroup_memory_refaults_total", "file"},
}

// resources measures the pressure, memory and disk limits of the groups of watched
// processes, and the memory of all groups that have a limit of it. The roots are the
// machine, which has its own series. A limit on disks may come and go, so it is read each time.
func (c *cgroups) resources(groups map[watchedGroup]bool, walk bool) {
	if len(c.roots) == 0 {
		return
	}
	c.meter.run("host.cgroup", func(t recording.Time) error {
		done := map[string]bool{}
		once := func(kind, path string) bool {
			if path == "/" || path == "" || strings.Contains(path+"/", "/../") || done[kind+path] {
				return false
			}
			done[kind+path] = true
			return true
		}
		for g := range groups {
			if root, ok := c.roots[2]; ok && once("pressure", g.unified) {
				c.pressure(t, g.unified, filepath.Join(root, g.unified))
			}
			if once("memory", g.memory) {
				version, dir := c.place("memory", g.memory, g.unified)
				c.memory(t, g.memory, version, dir)
			}
			if _, dir := c.place("blkio", g.blkio, g.unified); once("io", g.blkio) {
				c.diskLimits(t, g.blkio, dir)
			}
		}
		if walk {
			c.findLimits()
		}
		for dir, path := range c.limited {
			if version, _ := c.place("memory", path, path); once("memory", path) {
				c.memory(t, path, version, dir)
			}
		}
		if walk {
			maps.DeleteFunc(c.told, func(path string, _ map[string]bool) bool { return !done["memory"+path] && !done["io"+path] })
		}
		return nil
	})
}

// place is where a controller's files of a group are: in a hierarchy of its own
// (version 1), else in the unified one.
func (c *cgroups) place(controller, path, unified string) (version int, dir string) {
	root := filepath.Join(c.top, controller)
	if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err == nil {
		return 1, filepath.Join(root, path)
	}
	return 2, filepath.Join(c.roots[2], unified)
}

func (c *cgroups) pressure(t recording.Time, path, dir string) {
	l := recording.Labels{"cgroup": path}
	for _, f := range pressureFiles {
		data, err := os.ReadFile(filepath.Join(dir, f.file))
		if err != nil {
			continue // 4.20 and later, and where it is on; the machine's tells so
		}
		some, full := parsePressure(data)
		if some != nil {
			c.env.Sink.Sample(t, f.some, l, *some)
		}
		if full != nil {
			c.env.Sink.Sample(t, f.full, l, *full)
		}
	}
}

// memory measures a group's memory, and where it has a limit what happened there.
func (c *cgroups) memory(t recording.Time, path string, version int, dir string) {
	l := recording.Labels{"cgroup": path}
	used, limit := 0.0, math.Inf(1)
	for _, f := range memoryFiles[version] {
		v, ok := numberIn(filepath.Join(dir, f.file))
		if !ok || v >= noLimit {
			continue // none, or without the memory controller
		}
		c.env.Sink.Sample(t, f.series, l, v)
		switch f.series {
		case "snag_cgroup_memory_bytes":
			used = v
		case "snag_cgroup_memory_limit_bytes", "snag_cgroup_memory_high_bytes":
			limit = min(limit, v)
			c.fact(t, path, recording.Fact{Name: "cgroup." + f.file, Value: fmt.Sprintf("%s %.0f", path, v), Source: filepath.Join(dir, f.file)})
		}
	}
	if math.IsInf(limit, 1) {
		return
	}
	files := []string{"memory.events", "memory.oom_control"}
	if used >= 0.9*limit { // it costs most (cgroup_rstat_flush), and tells little before
		files = append(files, "memory.stat")
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			continue // of the other version
		}
		procfile.NameValue(data, func(name []byte, v float64) {
			name, total := bytes.CutPrefix(name, []byte("total_"))
			if version == 1 && file == "memory.stat" && !total {
				return // without the groups below, which version 2 always has in it
			}
			if f, ok := memoryCounts[string(name)]; ok {
				l := recording.Labels{"cgroup": path}
				if f.kind != "" {
					l["kind"] = f.kind
				}
				c.env.Sink.Sample(t, f.series, l, v)
			}
		})
	}
}

// findLimits looks for the groups that have a limit of their memory, whoever is in them: a
// process that is killed for it may not live long enough to be watched.
func (c *cgroups) findLimits() {
	c.limited = map[string]string{}
	version, root := c.place("memory", "/", "/")
	if version == 2 && c.roots[2] == "" {
		return
	}
	walked := 0
	_ = filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // a group that went while it was walked
		}
		if walked++; walked > mostWalked || len(c.limited) >= mostGroups {
			c.meter.note("host.cgroup", fmt.Sprintf("only the first %d control groups were searched for a limit of memory, and %d measured", mostWalked, mostGroups), "")
			return fs.SkipAll
		}
		for _, file := range []string{"memory.limit_in_bytes", "memory.max", "memory.high"} {
			if v, ok := numberIn(filepath.Join(dir, file)); ok && v < noLimit && dir != root {
				c.limited[dir] = strings.TrimPrefix(dir, strings.TrimSuffix(root, "/"))
			}
		}
		return nil
	})
}

// numberIn is the number that a file consists of.
func numberIn(path string) (float64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	return procfile.Number(bytes.TrimSpace(data))
}

// fact writes a fact of a group once.
func (c *cgroups) fact(t recording.Time, path string, f recording.Fact) {
	if c.told[path] == nil {
		c.told[path] = map[string]bool{}
	}
	if once := f.Name + " " + f.Value; !c.told[path][once] {
		c.told[path][once] = true
		f.T = t
		c.env.Sink.Append(f)
	}
}

// diskLimits writes a fact for each limit of a group on a disk: "loop0 wbps=1048576".
func (c *cgroups) diskLimits(t recording.Time, path, dir string) {
	for file, key := range map[string]string{
		"io.max":                           "",
		"blkio.throttle.read_bps_device":   "rbps",
		"blkio.throttle.write_bps_device":  "wbps",
		"blkio.throttle.read_iops_device":  "riops",
		"blkio.throttle.write_iops_device": "wiops",
	} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			continue
		}
		for _, limit := range parseDiskLimits(data, key) {
			if name, err := os.Readlink(filepath.Join(c.env.Sys, "dev/block", limit.number)); err == nil {
				limit.number = filepath.Base(name)
			}
			c.fact(t, path, recording.Fact{Name: "cgroup.io.max", Value: limit.number + " " + limit.text, Source: filepath.Join(dir, file)})
		}
	}
}

// parsePressure reads the running totals of a pressure file, seconds.
func parsePressure(data []byte) (some, full *float64) {
	for len(data) > 0 {
		var line []byte
		line, data = procfile.CutLine(data)
		kind, rest := procfile.CutField(line)
		_, total, ok := bytes.Cut(rest, []byte("total="))
		v, number := procfile.Number(bytes.TrimSpace(total))
		if !ok || !number || v < 0 {
			continue
		}
		v /= 1e6
		switch string(kind) {
		case "some":
			some = &v
		case "full":
			full = &v
		}
	}
	return some, full
}

// diskLimit is a limit on the disk of that "major:minor".
type diskLimit struct{ number, text string }

// parseDiskLimits reads io.max, "7:0 rbps=max wbps=1048576 riops=max wiops=max",
// or a file of version 1, "7:0 1048576", whose key is given.
func parseDiskLimits(data []byte, key string) []diskLimit {
	var out []diskLimit
	for len(data) > 0 {
		var line []byte
		line, data = procfile.CutLine(data)
		f := strings.Fields(string(line))
		if len(f) < 2 || !strings.Contains(f[0], ":") || strings.ContainsAny(f[0], "/.") {
			continue
		}
		var limits []string
		for _, word := range f[1:] {
			if key != "" {
				word = key + "=" + word
			}
			if name, v, ok := strings.Cut(word, "="); ok && v != "max" && name != "" {
				limits = append(limits, word)
			}
		}
		if len(limits) > 0 && len(out) < 64 {
			out = append(out, diskLimit{f[0], strings.Join(limits, " ")})
		}
	}
	return out
}
