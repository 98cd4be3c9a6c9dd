package host

import (
	"bytes"
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

// resources measures the pressure, memory and disk limits of the groups of watched
// processes. The roots are the machine, which has its own series.
func (c *cgroups) resources(groups map[watchedGroup]bool, settings bool) {
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
			version, dir := c.place("memory", g.memory, g.unified)
			if once("memory", g.memory) {
				c.memory(t, g.memory, version, dir)
			}
			if _, dir := c.place("blkio", g.blkio, g.unified); settings && once("io", g.blkio) {
				c.diskLimits(t, g.blkio, dir)
			}
		}
		return nil
	})
}

// place is where a controller's files of a group are: in a hierarchy of its own
// (version 1), else in the unified one.
func (c *cgroups) place(controller, path, unified string) (version int, dir string) {
	root := filepath.Join(c.env.Sys, "fs/cgroup", controller)
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

func (c *cgroups) memory(t recording.Time, path string, version int, dir string) {
	l := recording.Labels{"cgroup": path}
	for _, f := range memoryFiles[version] {
		data, err := os.ReadFile(filepath.Join(dir, f.file))
		if err != nil {
			continue // without the memory controller
		}
		if v, ok := procfile.Number(bytes.TrimSpace(data)); ok && v < 1<<60 {
			c.env.Sink.Sample(t, f.series, l, v)
		}
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
			value := limit.number + " " + limit.text
			if once := path + " " + value; !c.told[once] {
				c.told[once] = true
				c.env.Sink.Append(recording.Fact{T: t, Name: "cgroup.io.max", Value: value, Source: filepath.Join(dir, file)})
			}
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
