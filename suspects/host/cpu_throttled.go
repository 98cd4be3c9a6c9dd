package host

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var cpuThrottled = &suspect.Suspect{
	Name:  "cpu-throttled",
	Title: "a control group's CPU quota throttles its processes",
	About: "The group used up its quota early in the period, and all its processes stopped until the next one began, up to 100 ms each time. " +
		"A batch job that is throttled is doing what it was set to do: only where requests wait is it harm.",
	Needs: []suspect.Need{
		{Measure: "host.cgroup", Must: true, Why: "periods, throttled periods, throttled time and quota of the group"},
		{Measure: "host.processes", Why: "which processes are in it"},
		{Measure: "sockets.diag", Why: "whether requests wait at their sockets"},
		{Measure: "threads.sched", Why: "how long their threads waited for a CPU"},
		{Measure: "offcpu.waits", Why: "each stop of theirs, and that their CPU was idle meanwhile"},
	},
	For: []string{
		"decisive: throttled in a tenth of the periods or more (faulty 71 of 73), and the throttled time agrees with it",
		"strong: in most samples data or connections waited at a socket of its processes",
		"strong: its threads were ready and did not run, a tenth of the time or more; in waits of 50 ms and more their CPU was idle before they came",
	},
	Against: []string{
		"strong: nothing waited at its processes' sockets: throttled, and no client is affected: a risk",
		"throttled in a few periods: bursts are cut, nothing stops; a quota that is set and not reached",
	},
	LeadsTo: []suspect.Lead{
		{To: "server-stall", Lag: 5 * time.Second}, {To: "encoder-stall", Lag: 5 * time.Second}, {To: "reader-stall", Lag: 5 * time.Second},
		{To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 5 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.DatagramsLost, Lag: 5 * time.Second},
		{To: "lock-convoy", Lag: 5 * time.Second},   // who holds a lock and does not run keeps it
		{To: "runtime-pause", Lag: 5 * time.Second}, // it ends when its threads have run
		{To: "udp-receive-buffer-full", Lag: 5 * time.Second}, {To: "listen-overflow", Lag: 10 * time.Second}},
	Claims: []ledger.Account{ledger.Quota, ledger.CPU},
	Remedy: suspect.Remedy{
		Now:         "systemctl set-property --runtime UNIT CPUQuota=PERCENT",
		Permanently: "CPUQuota= of the unit at what it needs, or none.",
		Program:     "As many busy threads as the quota has CPUs.",
	},
	Verified: "throttled periods stop, and the queue at its sockets is empty",
	Next:     "cat /sys/fs/cgroup/GROUP/cpu.stat; systemctl show -p CPUQuotaPerSecUSec UNIT",
	Weigh:    weighThrottled,
}

const (
	// throttledShare of the periods at which a group is said to be held back: one
	// request in ten meets it. Healthy: under 0.05; Kubernetes' own alert
	// (CPUThrottlingHigh) begins at 0.25.
	throttledShare = 0.1
	// fewPeriods: one second's worth of periods of 100 ms says nothing yet.
	fewPeriods = 10
	// mostPeriods: a group that is throttled in so many of them has next to no time in which it may run.
	mostPeriods = 0.5
	// delayShare of its time that a thread is ready and does not run. Healthy
	// servers on a busy machine: under 0.03.
	delayShare = 0.1
)

// quotaUse is what the counters of one group say.
type quotaUse struct {
	path               string
	group              *scene.Cgroup // nil where its settings were not read
	periods, throttled float64
	seconds, usage     float64 // throttled and used time; of all its CPUs
	timed, metered     bool    // those two were measured
	steps              measure.Steps
}

func weighThrottled(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, series := range r.Select("snag_cgroup_cpu_throttled_periods_total") {
		n, ok := series.Increase()
		path := series.Labels["cgroup"]
		if !ok || n == 0 {
			continue
		}
		u := quotaUse{path: path, throttled: n, steps: measure.StepsOf(series)}
		for _, g := range s.Cgroups {
			if g.Row.Path == path {
				u.group = g
			}
		}
		u.periods, _ = increaseOf(r, "snag_cgroup_cpu_periods_total", path)
		u.seconds, u.timed = increaseOf(r, "snag_cgroup_cpu_throttled_seconds_total", path)
		u.usage, u.metered = increaseOf(r, "snag_cgroup_cpu_usage_seconds_total", path)
		if u.periods > 0 && n >= fewPeriods && n/u.periods >= throttledShare {
			out = append(out, u.finding(s, r))
		}
	}
	return out
}

func increaseOf(r *recording.Recording, name, cgroup string) (float64, bool) {
	for _, s := range r.Select(name, "cgroup", cgroup) {
		return s.Increase()
	}
	return 0, false
}

func (u quotaUse) finding(s *scene.Scene, r *recording.Recording) suspect.Finding {
	share := u.throttled / u.periods
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindCgroup, Cgroup: u.path}, Active: u.steps.Active()}
	members := u.members(s, r)
	for _, p := range members[:min(len(members), 5)] {
		f.Related = append(f.Related, p.Subject)
	}
	who := u.path
	if len(members) > 0 {
		who = members[0].Subject.Name
		if len(members) > 1 {
			who += fmt.Sprintf(" and %d more", len(members)-1)
		}
	}
	f.Text = fmt.Sprintf("%s was throttled by its quota%s in %s of %s periods", who, u.quotaText(), units.Count(u.throttled), units.Count(u.periods))
	held := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.Of("cpu.stat nr_throttled, nr_periods of "+u.path, source.Throttled, source.ThrottledTime), Origin: "cpu.stat",
		Text: fmt.Sprintf("throttled in %s periods (%.0f %%)", units.OfAll(u.throttled, u.periods), 100*share)}
	each := 0.0
	if u.timed && u.seconds > 0 {
		each = u.seconds / u.throttled
		held.Text += fmt.Sprintf(", %s in all, %s each time", units.Lasting(u.seconds), units.Lasting(each))
		held.Grade = suspect.Decisive
	}
	f.Evidence = append(f.Evidence, held)

	waits, looked := u.requestsWaiting(s, members)
	if waits != nil {
		f.Evidence = append(f.Evidence, *waits)
	}
	delayed := u.runDelay(members)
	if delayed != nil {
		f.Evidence = append(f.Evidence, *delayed)
	}
	if e, ok := heldBack(r, members); ok {
		f.Evidence = append(f.Evidence, e)
	}
	switch {
	case waits != nil:
		if each == 0 {
			each = u.period() / 2 // not known: half a period is the mean of any
		}
		// All its CPUs' time is counted: no stop is longer than a period.
		each = min(each, u.period()) * share
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: each, Unit: "s", Text: fmt.Sprintf("%s of standing still in a typical period of %s, with requests waiting", units.Lasting(each), units.Lasting(u.period()))}
	case looked:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.SS("-tunp", source.RecvQ), Origin: "receive queues", Text: "nothing waited at the sockets of its processes: no latency was seen"})
	default:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Source: source.SS("-tunp").With(source.RecvQ), Origin: "receive queues", Text: "its processes have no sockets that were looked at: no client was seen waiting"})
	}
	if share < mostPeriods {
		f.NotTo = []string{"runtime-pause"} // which has its own reason then
	}
	f.Settings, f.Calls = u.settings(s, r, members)
	f.Remedy = u.remedy(s, r, f.Settings)
	f.Next = fmt.Sprintf("cat /sys/fs/cgroup%[1]s/cpu.stat /sys/fs/cgroup/cpu%[1]s/cpu.stat", u.path)
	return f
}

// members are the processes that the group limits, those with sockets first.
func (u quotaUse) members(s *scene.Scene, r *recording.Recording) []*scene.Process {
	var out []*scene.Process
	for _, p := range s.Processes {
		if p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		at := p.Last().Cgroup
		if at == u.path || u.path != "/" && len(at) > len(u.path) && at[:len(u.path)+1] == u.path+"/" {
			out = append(out, p)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return len(out[i].Sockets) > len(out[j].Sockets) })
	return out
}

// requestsWaiting is the socket of its processes at which something waited to be
// read at most samples. looked is false where there was none to look at.
func (u quotaUse) requestsWaiting(s *scene.Scene, members []*scene.Process) (e *suspect.Evidence, looked bool) {
	active, best := u.steps.Active(), 0.0
	for _, p := range members {
		for _, k := range p.Sockets {
			n, rows, most := measure.WaitingIn(k, active)
			if k.First().Proto == "udp" && k.DropsGrew() > 0 {
				n = rows
			}
			if rows == 0 {
				continue
			}
			looked = true
			// Idle sockets get no new rows, so the share is of the seconds too.
			share := math.Min(float64(n)/float64(rows), float64(n)/math.Max(1, intervals.Seconds(active, s.Window.End)/u.every(k)))
			if rows < 3 || n < 3 || share < 0.5 || share <= best {
				continue
			}
			best = share
			what := units.Bytes(float64(most))
			if k.Listening() {
				what = units.Count(float64(most)) + " connections"
			}
			e = &suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.SS("-tunp", source.RecvQ), Origin: "receive queues",
				Text: fmt.Sprintf("in %d of %d samples something waited to be read by %s on %s (up to %s)", n, rows, p.Subject.Name, k.First().Local, what)}
			if d := k.DropsGrew(); d > 0 {
				e.Text += fmt.Sprintf("; its socket dropped %s", units.Count(float64(d)))
			}
		}
	}
	return e, looked
}

// every is how often a socket was looked at, s: each second, or each fifth.
func (u quotaUse) every(k *scene.Socket) float64 {
	if len(k.Rows) < 2 {
		return 1
	}
	least := 5.0
	for i := 1; i < len(k.Rows); i++ {
		least = math.Min(least, k.Rows[i].T.Sub(k.Rows[i-1].T).Seconds())
	}
	return math.Max(1, least)
}

// runDelay is the thread that was ready without running for the greatest share.
func (u quotaUse) runDelay(members []*scene.Process) *suspect.Evidence {
	var out *suspect.Evidence
	best := delayShare
	for _, p := range members {
		for _, t := range p.Threads {
			a, b := t.Rows[0], t.Rows[len(t.Rows)-1]
			if d := b.T.Sub(a.T).Seconds(); d >= 2 && (b.RunDelay-a.RunDelay)/d >= best {
				best = (b.RunDelay - a.RunDelay) / d
				out = &suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: best, Unit: "share", Source: source.Schedstat.As("/proc/PID/task/TID/schedstat"), Origin: "run delay",
					Text: fmt.Sprintf("thread %d of %s was ready and did not run for %.0f %% of the time", t.Subject.TID, p.Subject.Name, 100*best)}
			}
		}
	}
	return out
}

// heldBack tells of threads that were ready while their CPU had nothing to do: what is
// left to keep them from it is a quota. The member with most such waits.
func heldBack(r *recording.Recording, members []*scene.Process) (e suspect.Evidence, ok bool) {
	most := 0
	for _, p := range members {
		in, seen := ranInstead(r, p.Subject.PID)
		if !seen || in.who != "idle" || in.times < fewDelays || in.times <= most {
			continue
		}
		most, ok = in.times, true
		e = suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: in.longest, Unit: "s", Source: source.Of("sched_switch (events run-delay)", source.RunDelays), Origin: "who ran",
			Text: fmt.Sprintf("%s threads of %s were ready for 50 ms and more, at the longest %s, and their CPU was idle before they came", units.Times(in.times), p.Subject.Name, units.Lasting(in.longest))}
	}
	return e, ok
}

func (u quotaUse) period() float64 {
	if u.group != nil && u.group.Row.Period > 0 {
		return u.group.Row.Period
	}
	return 0.1 // the kernel's default (kernel/sched/fair.c, default_cfs_period)
}

func (u quotaUse) quotaText() string {
	if u.group == nil || u.group.Row.Quota <= 0 {
		return ""
	}
	return fmt.Sprintf(" of %.0f %% of a CPU", 100*u.group.Row.Quota/u.period())
}

// enough is the quota that would have been enough, in percent of a CPU: what the group
// used, and what it stood still for at most, and a quarter more.
func (u quotaUse) enough(s *scene.Scene, r *recording.Recording) float64 {
	percent, used := 0.0, u.usage
	if !u.metered && u.group != nil {
		used = u.throttled * u.group.Row.Quota // at the least: all of it, each time
	}
	if length := s.Window.Length(s.Window.End).Seconds(); length > 0 {
		percent = 125 * (used + min(u.seconds, length)) / length
	}
	if u.group != nil && u.group.Row.Quota > 0 {
		percent = max(percent, 125*u.group.Row.Quota/u.period())
	}
	percent = 10 * math.Ceil(percent/10)
	if r.Manifest.CPUs > 0 {
		percent = min(percent, 100*float64(r.Manifest.CPUs))
	}
	return percent
}

func (u quotaUse) remedy(s *scene.Scene, r *recording.Recording, set []suspect.Setting) suspect.Remedy {
	out := suspect.Remedy{Now: remedy.Now(s, r, set), Permanently: remedy.Kept(s, r, set), Program: "As many busy threads as the quota has CPUs."}
	if len(set) == 1 && set[0].Kind == "cpu-quota" && u.group != nil && u.group.Row.Version == 1 {
		quota, _, _ := strings.Cut(set[0].Value, " ")
		out.Now = fmt.Sprintf("echo %s > %s", quota, remedy.Quoted("/sys/fs/cgroup/cpu"+u.path+"/cpu.cfs_quota_us"))
	}
	return out
}

// settings are the same as data: the unit's property where systemd holds the group,
// which would write over the file.
func (u quotaUse) settings(s *scene.Scene, r *recording.Recording, members []*scene.Process) (set []suspect.Setting, calls []suspect.Call) {
	percent := u.enough(s, r)
	now := 0.0
	if u.group != nil && u.group.Row.Quota > 0 {
		now = 100 * u.group.Row.Quota / u.period()
	}
	if len(members) > 0 {
		calls = append(calls, suspect.Call{Who: suspect.WhoseCall(members[0].Subject), Do: "fewer busy threads: as many as its quota has CPUs (GOMAXPROCS, -XX:ActiveProcessorCount, worker_processes)",
			Why: "its threads use the quota up together, and then all of them stop until the next period"})
	}
	if percent <= now || percent <= 0 || u.path == "/" {
		return nil, calls
	}
	why := fmt.Sprintf("throttled in %s periods", units.OfAll(u.throttled, u.periods))
	if length := s.Window.Length(s.Window.End).Seconds(); u.metered && length > 0 && u.timed {
		why += fmt.Sprintf("; it used %.0f %% of a CPU and stopped for %s of %s more: a quarter above both", 100*u.usage/length, units.Lasting(min(u.seconds, length)), units.Lasting(length))
	}
	c := suspect.Setting{Kind: "cpu-quota", At: recording.Subject{Cgroup: u.path}, Value: fmt.Sprintf("%.0f %.0f", percent/100*u.period()*1e6, u.period()*1e6),
		Why: why, Risk: fmt.Sprintf("it may take up to %.0f %% of a CPU from others", percent)}
	if u.group != nil && u.group.Row.Unit != "" {
		c = suspect.Setting{Kind: "unit", Name: "CPUQuota", Unit: u.group.Row.Unit, Value: fmt.Sprintf("%.0f%%", percent), Why: c.Why, Risk: c.Risk}
	}
	return []suspect.Setting{c}, calls
}
