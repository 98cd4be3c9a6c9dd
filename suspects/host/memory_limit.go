package host

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var memoryLimit = &suspect.Suspect{
	Name:  "memory-limit",
	Title: "a control group's memory limit is below what its processes need",
	About: "Once a group holds as much as its limit (MemoryMax=, MemoryHigh=, docker run --memory), whoever takes more must give something up first: pages that are read back when they are needed again, or a process, which the kernel kills. The host may have plenty. " +
		"A group at its limit is healthy as long as what it gives up is cache that is not needed again: backups and copies fill any limit.",
	Needs: []suspect.Need{
		{Measure: "host.cgroup", Must: true, Why: "the limit, what the group holds, how often it was hit, kills, and pages that came back"},
		{Measure: "host.processes", Must: true, Why: "which processes are in the group, and how much of them lies in swap"},
		{Measure: "memory.reclaim", Why: "how long its threads had to free memory before they got some"},
		{Measure: "host.memory", Why: "how much memory the host has for a larger limit"},
	},
	For: []string{
		"decisive: the kernel killed processes of the group for its limit (oom_kill)",
		"strong: the group held 95 % of its limit, and hit it again and again",
		"strong: 20 pages per second and more that it had given up were missed (major faults of a group whose pages come back)",
		"strong: its threads reclaimed memory themselves for a tenth of a second or more in all; its tasks waited for memory for a tenth of the time (memory.pressure)",
	},
	Against: []string{
		"decisive: what it gave up at the limit did not come back: cache that is not needed again",
		"trap: a program that starts takes major faults for files that it had not read before",
		"can't tell: a kill before the recording began (the kernel log may); files that are read again by read(), which count as refaults only",
	},
	LeadsTo: measure.LatencyLeads(suspect.Lead{To: "service-killed", Lag: 10 * time.Second}, suspect.Lead{To: "swap", Lag: measure.FeltWithin}, suspect.Lead{To: "disk-stall", Lag: measure.FeltWithin}, suspect.Lead{To: "worker-queue", Lag: measure.FeltWithin}, suspect.Lead{To: "busy-thread", Lag: measure.FeltWithin},
		suspect.Lead{To: scene.FailedAnswers, Lag: measure.FeltWithin}, suspect.Lead{To: "error-answers", Lag: measure.FeltWithin}, suspect.Lead{To: scene.ConnectionErrors, Lag: measure.FeltWithin}, suspect.Lead{To: "peer-reset", Lag: 2 * measure.FeltWithin}, suspect.Lead{To: "upstream-refused", Lag: 2 * measure.FeltWithin},
		suspect.Lead{To: "listen-overflow", Lag: 2 * measure.FeltWithin}, suspect.Lead{To: "udp-receive-buffer-full", Lag: measure.FeltWithin}),
	Claims: []ledger.Account{ledger.Memory, ledger.Disk, ledger.Kernel},
	Remedy: suspect.Remedy{
		Now:         "systemctl set-property --runtime UNIT MemoryMax=BYTES",
		Permanently: "A larger limit where the group is made, if the host has the memory: MemoryMax= of a unit, --memory of docker, limits.memory of Kubernetes.",
		Program:     "Fewer processes, smaller caches.",
	},
	Verified: "oom_kill, refaults and pgmajfault of the group do not grow",
	Next:     "cat /sys/fs/cgroup/GROUP/memory.{current,max,high,events,pressure}; grep -E 'refault|pgmajfault' /sys/fs/cgroup/GROUP/memory.stat",
	Weigh:    weighMemoryLimit,
}

// waitsForMemory is the share of the time that tasks of a group wait for memory from which
// it is felt, by its memory.pressure.
const waitsForMemory = 0.1

// limitedGroup is a control group with a limit of its memory, and what happened there.
type limitedGroup struct {
	path                  string
	file                  string             // of the limit that holds: memory.max, memory.high, memory.limit_in_bytes
	source                string             // its whole path; "" not known
	limit, used, swap     float64            // the lowest that it had, and the most that it held meanwhile
	while                 recording.Interval // it had that limit
	processes             []*scene.Process
	hits, kills           float64
	missed                measure.Steps // pages that were needed again
	span                  float64       // s over which they were counted
	came                  float64       // pages that came back, needed at once or not
	counted               bool          // came was measured
	killed                measure.Steps
	waited, waitedMeasure float64 // s that tasks waited for memory, and of how many
}

func weighMemoryLimit(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, g := range limitedGroups(s, r) {
		if f, ok := g.finding(r); ok {
			out = append(out, f)
		}
	}
	return out
}

// limitedGroups are the groups that have a limit, each with the lower of its two.
func limitedGroups(s *scene.Scene, r *recording.Recording) []*limitedGroup {
	by := map[string]*limitedGroup{}
	var order []string
	for _, name := range []string{"snag_cgroup_memory_limit_bytes", "snag_cgroup_memory_high_bytes"} {
		for _, series := range r.Select(name) {
			path := series.Labels["cgroup"]
			limit, while := lowest(series)
			if limit <= 0 || by[path] != nil && by[path].limit <= limit {
				continue
			}
			if by[path] == nil {
				order = append(order, path)
			}
			by[path] = &limitedGroup{path: path, limit: limit, while: while, file: "memory.max"}
			if name == "snag_cgroup_memory_high_bytes" {
				by[path].file = "memory.high"
			}
		}
	}
	for _, f := range r.Facts {
		name, is := strings.CutPrefix(f.Name, "cgroup.memory.")
		if path, _, _ := strings.Cut(f.Value, " "); is && by[path] != nil && (by[path].file == "memory."+name || name == "limit_in_bytes") {
			by[path].file, by[path].source = "memory."+name, f.Source
		}
	}
	var out []*limitedGroup
	for _, path := range order {
		by[path].measure(s, r)
		out = append(out, by[path])
	}
	return out
}

// lowest is the least of a series that is no zero, and from when to when it was so: a limit may be
// changed while somebody looks.
func lowest(series recording.Series) (least float64, while recording.Interval) {
	for _, point := range series.Points {
		switch {
		case point.V <= 0:
		case least == 0 || point.V < least:
			least, while = point.V, recording.Interval{Start: point.T, End: point.T}
		case point.V == least:
			while.End = point.T
		}
	}
	return least, while
}

func (g *limitedGroup) measure(s *scene.Scene, r *recording.Recording) {
	for _, p := range s.Processes {
		if at := p.Last().GroupOf("memory"); p.Subject.PID != r.Manifest.SelfPID && (at == g.path || strings.HasPrefix(at, g.path+"/")) {
			g.processes = append(g.processes, p)
			if swap := p.Last().Swap; swap != nil {
				g.swap += float64(*swap)
			}
		}
	}
	of := func(name string) []recording.Series { return r.Select("snag_cgroup_memory_"+name, "cgroup", g.path) }
	for _, series := range of("bytes") {
		for _, point := range series.Points {
			if point.T >= g.while.Start && point.T <= g.while.End {
				g.used = max(g.used, point.V)
			}
		}
	}
	for _, series := range slices.Concat(of("limit_hits_total"), of("high_hits_total")) {
		hits, _ := series.Increase()
		g.hits += hits
	}
	for _, series := range of("oom_kills_total") {
		g.killed = measure.StepsOf(series)
		g.kills = g.killed.Sum()
	}
	for _, series := range of("refaults_total") {
		came, ok := series.Increase()
		g.came += came
		g.counted = g.counted || ok
	}
	for _, series := range of("major_faults_total") {
		if n := len(series.Points); n >= 2 {
			g.missed, g.span = measure.StepsOf(series), series.Points[n-1].T.Sub(series.Points[0].T).Seconds()
		}
	}
	for _, p := range g.processes { // recorded before the group's were
		if f, ok := faultsOf(p); ok && len(of("major_faults_total")) == 0 {
			g.missed, g.span = append(g.missed, f.steps...), max(g.span, f.span)
		}
	}
	for _, series := range r.Select("snag_cgroup_pressure_memory_waiting_seconds_total", "cgroup", g.path) {
		if n := len(series.Points); n >= 2 {
			g.waited, _ = series.Increase()
			g.waitedMeasure = series.Points[n-1].T.Sub(series.Points[0].T).Seconds()
		}
	}
}

// limitFile is the file of its limit; where nobody wrote it down, that of version 2.
func (g *limitedGroup) limitFile() string {
	if g.source != "" {
		return g.source
	}
	return "/sys/fs/cgroup" + g.path + "/" + g.file
}

// misses is how many pages that it had given up the group needed again, at the most: it may
// take major faults for what it never had, and give up what it reads anew.
func (g *limitedGroup) misses() float64 {
	n := g.missed.Sum()
	switch {
	case g.counted:
		return min(n, g.came)
	case g.swap == 0:
		return 0
	}
	return n
}

func (g *limitedGroup) finding(r *recording.Recording) (suspect.Finding, bool) {
	if g.kills == 0 && (g.used < nearLimit*g.limit || g.hits == 0) {
		return suspect.Finding{}, false
	}
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindCgroup, Cgroup: g.path}}
	dir, files := filepath.Dir(g.limitFile()), "memory.current memory.max memory.high memory.events memory.pressure"
	if filepath.Base(g.limitFile()) == "memory.limit_in_bytes" {
		files = "memory.usage_in_bytes memory.limit_in_bytes memory.failcnt memory.oom_control"
	}
	f.Next = fmt.Sprintf("cd %s && grep -Hs . %s; grep -E 'refault|pgmajfault' memory.stat", dir, files)
	for _, p := range g.processes[:min(len(g.processes), measure.MostRelated)] {
		f.Related = append(f.Related, p.Subject)
	}
	limit := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: g.used, Unit: "bytes", Source: source.Of("memory.current, "+g.file+", memory.events of "+g.path, source.GroupMemory, source.GroupLimit), Origin: "memory limit",
		Text: fmt.Sprintf("it held %s of the %s that it may, and hit the limit %s", units.Bytes(g.used), units.Bytes(g.limit), units.Times(int(g.hits)))}
	missed := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: g.misses(), Unit: "pages", Source: source.Of("memory.stat of "+g.path+": pgmajfault, workingset_refault", source.Ref{Series: "node_vmstat_pgmajfault"}, source.GroupWaitsMemory), Origin: "refaults",
		Text: fmt.Sprintf("%s pages that it had given up were needed again in %s (%s per second; healthy 0)", units.Count(g.misses()), units.Lasting(g.span), units.Count(g.misses()/max(g.span, 1)))}
	thrashes := g.span >= 2 && g.misses() >= swapRate*g.span
	switch {
	case g.kills > 0:
		f.Active = g.killed.Active()
		f.Text = fmt.Sprintf("the kernel killed processes of it %s: all together may hold %s", units.Times(int(g.kills)), units.Bytes(g.limit))
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: g.kills, Unit: "kills", Source: source.Of("memory.events oom_kill of "+g.path, source.Ref{Series: "node_vmstat_oom_kill"}, source.GroupMemory), Origin: "oom_kill",
			Text: fmt.Sprintf("oom_kill of the group grew by %s", units.Count(g.kills))})
	case thrashes:
		f.Active = faults{steps: g.missed}.active()
		f.Text = fmt.Sprintf("its processes need more than the %s that all together may hold: %s pages that they had given up were needed again in %s", units.Bytes(g.limit), units.Count(g.misses()), units.Lasting(g.span))
	case g.counted:
		missed.Side, missed.Grade, limit.Grade = suspect.Against, suspect.Decisive, suspect.Weak
		f.Text = fmt.Sprintf("it is at its limit of %s, and misses nothing of what it gives up", units.Bytes(g.limit))
		f.Evidence = []suspect.Evidence{limit, missed}
		return f, true
	default:
		return f, false
	}
	f.Evidence = append(f.Evidence, limit)
	if thrashes {
		f.Evidence = append(f.Evidence, missed)
	}
	if g.waited >= waitsForMemory*g.waitedMeasure && g.waited > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: g.waited, Unit: "s", Source: source.Of("memory.pressure of "+g.path, source.GroupWaitsMemory), Origin: "memory.pressure",
			Text: fmt.Sprintf("its tasks waited for memory for %s of %s", units.Lasting(g.waited), units.Lasting(g.waitedMeasure))})
	}
	for _, p := range g.processes {
		if e, ok := reclaimed(r, p); ok {
			f.Evidence = append(f.Evidence, e)
			break
		}
	}
	g.heal(r, &f)
	return f, true
}

const smallerGroup = "Fewer processes, smaller caches."

// heal is a larger limit: a quarter above what the group holds and what it misses, which is what
// it has in swap or what came back, or half above a limit that processes were killed for. The
// host must have it.
func (g *limitedGroup) heal(r *recording.Recording, f *suspect.Finding) {
	need := g.limit + max(g.swap, min(g.limit, 4096*g.misses()))
	if g.kills > 0 {
		need = max(need, 1.5*g.limit)
	}
	want := math.Ceil(1.25*need/(1<<20)) * (1 << 20)
	if free, ok := measure.LastOf(r, "node_memory_MemAvailable_bytes"); ok && want-g.limit > free {
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Another host for it: it needs about %s, and this one has %s to spare.", units.Bytes(want), units.Bytes(free)), Program: "Fewer processes and smaller caches in the group."}
		return
	}
	held := fmt.Sprintf("the group holds %s of %s", units.Bytes(g.used), units.Bytes(g.limit))
	if g.swap > 0 {
		held += fmt.Sprintf(", and %s of it lie in swap", units.Bytes(g.swap))
	}
	property := "MemoryMax"
	if g.file == "memory.high" {
		property = "MemoryHigh"
	}
	for _, p := range g.processes {
		if unit := p.Last().Unit; unit != "" && strings.HasSuffix(g.path, "/"+unit) {
			f.Remedy = suspect.Remedy{Now: remedy.UnitNow(p, property, fmt.Sprintf("%.0f", want)), Permanently: fmt.Sprintf("%s=%.0f (now %s) in %s (systemctl edit %s).", property, want, units.Bytes(g.limit), unit, unit), Program: smallerGroup}
			f.Settings = []suspect.Setting{{Kind: "unit", Name: property, Unit: unit, AtLeast: true, Value: fmt.Sprintf("%.0f", want),
				Why: held + ": a quarter above what it needs", Risk: "that much less for others"}}
			return
		}
	}
	f.Remedy = suspect.Remedy{Now: fmt.Sprintf("echo %.0f > %s", want, remedy.Quoted(g.limitFile())), Program: smallerGroup,
		Permanently: fmt.Sprintf("A limit of %s (now %s) where the group is made: --memory of docker, limits.memory of Kubernetes, %s= of a unit.", units.Bytes(want), units.Bytes(g.limit), property)}
}
