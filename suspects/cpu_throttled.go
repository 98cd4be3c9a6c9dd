package suspects

import (
	"fmt"
	"math"
	"time"

	"snag/recording"
	"snag/scene"
)

var cpuThrottled = &Suspect{
	Name:  "cpu-throttled",
	Title: "a control group's CPU quota throttles a service",
	About: "The group's processes use up their quota of CPU time early in each period (100 ms by default) and may not run until the next. The CPU graph looks half idle, and every request that comes meanwhile waits tens of milliseconds.",
	Needs: []Need{
		{Measure: "host.cgroup", Must: true, Why: "nr_periods, nr_throttled and the throttled time of the group"},
		{Measure: "host.processes", Must: true, Why: "which processes are in the group"},
		{Measure: "sockets.diag", Why: "requests that lie unread at their sockets meanwhile"},
	},
	For: []string{
		"decisive: the group was throttled in a tenth of its periods or more, for 2 % of the time or more (sick 71 of 73 periods)",
		"strong: received data lay unread at its processes' sockets in most samples",
	},
	Against: []string{
		"throttled, and no request waited (a batch job, latency unchanged): a risk at most",
		"trap: use near the quota without throttling",
	},
	LeadsTo: []Lead{
		{To: "udp-receive-buffer-full", Lag: time.Second}, {To: "listen-overflow", Lag: time.Second}, {To: "slow-consumer", Lag: time.Second},
		{To: scene.RequestLatency, Lag: time.Second}, {To: scene.ConnectLatency, Lag: time.Second}, {To: scene.StreamFreeze, Lag: 2 * time.Second}, {To: scene.StreamLate, Lag: time.Second},
	},
	Remedy: "raise or lift the quota: CPUQuota= of the unit (systemctl set-property), cpu.max or cpu.cfs_quota_us of the group. Verified by: nr_throttled stands still, and the receive queues are empty",
	Next:   "grep . /sys/fs/cgroup/*/cpu.stat /sys/fs/cgroup/cpu/*/cpu.stat | grep throttled",
	Weigh:  weighThrottled,
}

const (
	// Below these shares of periods and of time, throttling is the odd burst that
	// a quota is there for.
	throttledPeriods = 0.1
	throttledTime    = 0.02
	// A service that reads as data comes shows unread data in about the share of
	// samples in which it is busy; above this its requests wait.
	waitingSamples = 0.4
	fewestSamples  = 5
)

func weighThrottled(s *scene.Scene, r *recording.Recording) []Finding {
	var out []Finding
	for _, g := range s.Cgroups {
		periods, ok1 := counterOf(r, "snag_cgroup_cpu_periods_total", g.Row.Path)
		throttled, ok2 := counterOf(r, "snag_cgroup_cpu_throttled_periods_total", g.Row.Path)
		seconds, ok3 := counterOf(r, "snag_cgroup_cpu_throttled_seconds_total", g.Row.Path)
		if !ok1 || !ok2 || !ok3 {
			continue
		}
		n, _ := periods.Increase()
		hit, _ := throttled.Increase()
		lost, _ := seconds.Increase()
		if n == 0 || hit == 0 {
			continue
		}
		out = append(out, throttledFinding(s, r, g, n, hit, lost, stepsOf(throttled).active()))
	}
	return out
}

func throttledFinding(s *scene.Scene, r *recording.Recording, g *scene.Cgroup, periods, hit, lost float64, active []recording.Interval) Finding {
	window := s.Window.End.Sub(s.Window.Start).Seconds()
	source := "cpu.stat of " + g.Row.Path
	f := Finding{Subject: g.Subject, Active: active,
		Text: fmt.Sprintf("throttled in %s of %s periods, %s in all, by its quota of %s of a CPU", count(hit), count(periods), lasting(lost), share(g.Row)),
		Next: "grep throttled /sys/fs/cgroup" + g.Row.Path + "/cpu.stat /sys/fs/cgroup/cpu" + g.Row.Path + "/cpu.stat",
	}
	grade := Weak
	if hit/periods >= throttledPeriods && lost/window >= throttledTime {
		grade = Decisive
	}
	f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: grade, Value: hit / periods, Unit: "ratio", Source: source,
		Text: fmt.Sprintf("nr_throttled grew by %s in %s periods, the throttled time by %s", count(hit), count(periods), lasting(lost))})
	f.Remedy = quotaRemedy(r, g, hit/periods)

	p, waiting, all := mostWaiting(s, g)
	switch {
	case p != nil && float64(waiting) >= waitingSamples*float64(all):
		each := lost / hit
		f.Related = append(f.Related, p.Subject)
		f.Text += "; requests to " + s.Name(p.Subject) + " wait"
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Strong, Value: float64(waiting) / float64(all), Unit: "ratio", Source: "ss -tn Recv-Q",
			Text: fmt.Sprintf("received data lay unread at %s in %d of %d samples", s.Name(p.Subject), waiting, all)})
		f.Harm = Harm{Symptom: scene.RequestLatency, Amount: math.Min(each, 10) * float64(waiting) / float64(all), Unit: "s",
			Text: fmt.Sprintf("requests waited up to %s each time it was throttled", lasting(each))}
	case p != nil:
		f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Weak, Value: float64(waiting) / float64(all), Unit: "ratio", Source: "ss -tn Recv-Q",
			Text: fmt.Sprintf("requests hardly waited: data lay unread at %s in %d of %d samples", s.Name(p.Subject), waiting, all)})
	default:
		if _, ok := r.Measured("sockets.diag"); ok {
			f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Weak, Source: "ss -tn", Text: "no process of it serves a connection"})
		}
	}
	return f
}

func counterOf(r *recording.Recording, name, cgroup string) (recording.Series, bool) {
	for _, s := range r.Select(name, "cgroup", cgroup) {
		if len(s.Points) > 1 {
			return s, true
		}
	}
	return recording.Series{}, false
}

func share(c recording.Cgroup) string {
	if c.Period <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.0f %%", 100*c.Quota/c.Period)
}

// quotaRemedy asks for two to four times the quota, by how often it was hit: how
// much the group would use can't be seen while
// it is held down.
func quotaRemedy(r *recording.Recording, g *scene.Cgroup, hit float64) string {
	now := g.Row.Quota / math.Max(g.Row.Period, 1e-9)
	want := math.Ceil(now*20*(1+hit)) / 10 // in tenths of a CPU
	if n := float64(r.Manifest.CPUs); n > 0 {
		want = math.Min(want, n)
	}
	if g.Row.Unit != "" {
		return fmt.Sprintf("systemctl set-property %s CPUQuota=%.0f%% (is %s), and look again", g.Row.Unit, 100*want, share(g.Row))
	}
	if g.Row.Version == 1 {
		return fmt.Sprintf("raise cpu.cfs_quota_us of %s to %.0f (is %.0f, period %.0f), and look again", g.Row.Path, want*g.Row.Period*1e6, g.Row.Quota*1e6, g.Row.Period*1e6)
	}
	return fmt.Sprintf("raise cpu.max of %s to \"%.0f %.0f\" (is \"%.0f %.0f\"), and look again", g.Row.Path, want*g.Row.Period*1e6, g.Row.Period*1e6, g.Row.Quota*1e6, g.Row.Period*1e6)
}

// mostWaiting is the process of the group at whose sockets data lay unread in
// most samples, of those seen often enough to tell.
func mostWaiting(s *scene.Scene, g *scene.Cgroup) (worst *scene.Process, waiting, all int) {
	for _, id := range s.Neighbours(g.ID, scene.LimitedBy) {
		n := s.Node(id)
		if n == nil || n.Subject.Kind != recording.KindProcess {
			continue
		}
		p := s.Process(n.Subject.PID)
		if p == nil {
			continue
		}
		seconds := map[int64]bool{}
		for _, k := range p.Sockets {
			if k.First().Proto != "tcp" || k.Listening() {
				continue
			}
			for _, row := range k.Rows {
				at := int64(row.T) / 1e9
				seconds[at] = seconds[at] || row.RecvQ > 0
			}
		}
		w := 0
		for _, waits := range seconds {
			if waits {
				w++
			}
		}
		if len(seconds) >= fewestSamples && (worst == nil || w*all > waiting*len(seconds)) {
			worst, waiting, all = p, w, len(seconds)
		}
	}
	return worst, waiting, all
}
