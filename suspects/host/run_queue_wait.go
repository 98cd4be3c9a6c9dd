package host

import (
	"fmt"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var runQueueWait = &suspect.Suspect{
	Name:  "run-queue-wait",
	Title: "a service waits for its CPU while others are idle",
	About: "The threads of the service may run on some CPUs only (taskset, CPUAffinity=, cpuset), or stand behind what has priority, and share them with something that computes. " +
		"The machine as a whole looks half idle.",
	Needs: []suspect.Need{
		{Measure: "host.cpu", Must: true, Why: "that the machine had idle CPUs meanwhile, and which were busy"},
		{Measure: "threads.sched", Why: "how long the threads were ready and did not run"},
		{Measure: "host.processes", Why: "on which CPUs who may run, and who used them"},
		{Measure: "sockets.turns", Why: "what of a request's time was waiting for a CPU"},
		{Measure: "offcpu.waits", Why: "each long wait for a CPU, and who ran instead"},
	},
	For: []string{
		"strong: threads of a service were ready and waited for a CPU, a tenth of the time and a third of what they wanted to run. Or, on CPUs that others fill, half of that and 2 ms for each request",
		"strong: they may run on some CPUs only, which were busy for nine tenths of the time while others were idle",
		"strong: in most of its waits of 50 ms and more the same thread ran instead",
		"weak: another process is bound to the same CPUs and used them; a service that is late",
	},
	Against: []string{
		"decisive: a quota throttled the threads (cpu-throttled), or requests spent less than a tenth of their time in the queue",
		"strong: no service that waited was late",
		"all CPUs were busy: then it is cpu-saturated; a pinned process alone on its CPU does not wait",
	},
	LeadsTo: measure.LatencyLeads(suspect.Lead{To: "udp-receive-buffer-full", Lag: measure.FeltWithin}, suspect.Lead{To: "listen-overflow", Lag: 2 * measure.FeltWithin}),
	Claims:  []ledger.Account{ledger.CPU},
	Remedy: suspect.Remedy{
		Now:         "taskset -apc CPUS PID",
		Permanently: "CPUAffinity= or AllowedCPUs= in its unit with more CPUs, or without the ones that others fill.",
	},
	Verified: "the run delay of its threads is under a tenth of their time",
	Next:     "taskset -pc PID; cat /proc/PID/task/*/schedstat; mpstat -P ALL 1 5",
	Weigh:    weighRunQueue,
}

func weighRunQueue(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	all, ok := measure.CPUTimes(r, nil)
	if !ok || all.IdleShare() < measure.BusyIdle {
		return nil // then it is the machine that is full
	}
	if _, ok := r.Measured("threads.sched"); !ok {
		return unqueued(r)
	}
	var out []suspect.Finding
	full, spell := measure.FullCPUs(r)
	for _, w := range cpuWaits(s, r) {
		if spell && !bound(w, all) && w.whileFull(s, full) {
			continue // so it was meanwhile
		}
		// What can't be told of somebody who is not late need not be; and on CPUs that are
		// idle he waits behind himself only: his own threads, all woken at once.
		crowded := bound(w, all) && !idleEnough(r, w)
		if !w.late() && (!crowded || !w.longEach(r)) || !crowded && lateness(s, w.process) == nil {
			continue
		}
		out = append(out, waitedForCPU(s, r, all, w))
		if len(out) == maxWaits {
			break
		}
	}
	return out
}

// crowdedShare of the time in which somebody waited for a CPU cannot be passed
// over where no thread was followed. Healthy: 0.01 to 0.1.
const crowdedShare = 0.2

func unqueued(r *recording.Recording) []suspect.Finding {
	psi, ok := shareOfWindow(r, "node_pressure_cpu_waiting_seconds_total")
	if !ok || psi < crowdedShare {
		return nil
	}
	return []suspect.Finding{{
		Subject: recording.Subject{Kind: recording.KindHost}, Evidence: []suspect.Evidence{
			{Side: suspect.For, Grade: suspect.Strong, Value: psi, Unit: "share", Source: source.Of("/proc/pressure/cpu some", source.PressureCPU), Origin: "cpu pressure",
				Text: fmt.Sprintf("somebody waited for a CPU for %.0f %% of the time, while some were idle", 100*psi)},
			{Side: suspect.Missing, Source: source.Schedstat.As("threads.sched"), Text: "the process of these threads was not measured"}},
		Text: "somebody waited for a CPU while others were idle", Next: "snag find --pid PID of the service that is late",
	}}
}

// maxWaits bounds the findings: the worst.
const maxWaits = 10

// bound reports whether a process may run on some of the CPUs only.
func bound(w cpuWait, all measure.CPUTime) bool {
	set := cpuSet(w.process.Last().CPUs)
	return set != nil && len(set) < all.CPUs
}

// idleEnough reports whether the CPUs that a process may use had time to spare.
func idleEnough(r *recording.Recording, w cpuWait) bool {
	own, ok := measure.CPUTimes(r, cpuSet(w.process.Last().CPUs))
	return ok && own.IdleShare() >= measure.BusyIdle
}

func waitedForCPU(s *scene.Scene, r *recording.Recording, all measure.CPUTime, w cpuWait) suspect.Finding {
	self := w.process.Subject
	f := suspect.Finding{Subject: self, Active: w.active, Evidence: []suspect.Evidence{w.evidence()}}
	f.Text = fmt.Sprintf("%s waited %s for a CPU while the CPUs were idle for %.0f %% of the time", self.Name, units.Lasting(w.waited), 100*all.IdleShare())
	f.Next = fmt.Sprintf("taskset -pc %d; chrt -p %d; ps -eLo psr,rtprio,ni,pid,comm,pcpu --sort=-pcpu | head", self.PID, self.PID)
	list := w.process.Last().CPUs
	set := cpuSet(list)
	own, ok := measure.CPUTimes(r, set)
	switch {
	case set == nil:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Source: source.Stat.As("/proc/PID/status Cpus_allowed_list"), Text: "on which CPUs it may run was not read"})
	case !ok || own.CPUs >= all.CPUs:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Source: source.Stat.As("/proc/PID/status Cpus_allowed_list"), Origin: "affinity",
			Text: "it may run on every CPU: what kept it from the idle ones (bursts, priorities, weights) can't be seen in these counters"})
	case own.IdleShare() < measure.BusyIdle:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: 1 - own.IdleShare(), Unit: "share", Source: source.CPU("/proc/PID/status Cpus_allowed_list, /proc/stat", "", "idle").With(source.ProcessCPU), Origin: "affinity",
			Text: fmt.Sprintf("it may run on CPU %s of %s only, busy for %.0f %% of the time; all together were idle for %.0f %%", list, units.Count(float64(all.CPUs)), 100*(1-own.IdleShare()), 100*all.IdleShare())})
		f.Text = fmt.Sprintf("%s may run on CPU %s only and waited %s for it, while the machine was idle for %.0f %% of the time", self.Name, list, units.Lasting(w.waited), 100*all.IdleShare())
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("More CPUs than %s in its unit (CPUAffinity=, AllowedCPUs=).", list)}
		if to := moveTo(s, r, w, max(r.Manifest.CPUs, all.CPUs)); to != "" && remedy.Lasts(r, w.process) {
			f.Remedy.Now = fmt.Sprintf("taskset -apc %s %d", to, self.PID)
		}
		nameRival(&f, s, r, w, set, list)
	default:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: own.IdleShare(), Unit: "share", Source: source.CPU("/proc/stat", "", "idle"), Origin: "affinity",
			Text: fmt.Sprintf("the CPUs that it may use, %s, were idle for %.0f %% of the time", list, 100*own.IdleShare())})
	}
	if e, ok := w.instead(r); ok {
		f.Evidence = append(f.Evidence, e)
	}
	if e := w.throttled(r); e != nil {
		f.Evidence = append(f.Evidence, *e)
	}
	addHarm(&f, s, r, w, []cpuWait{w})
	return f
}

// nameRival adds who used the CPUs that the process is bound to.
func nameRival(f *suspect.Finding, s *scene.Scene, r *recording.Recording, w cpuWait, set map[int]bool, list string) {
	for _, v := range rivals(s, r) {
		there := cpuSet(v.processes[0].Last().CPUs)
		if v.has(w.process) || there == nil || len(there) > 2*len(set) {
			continue
		}
		shared := 0
		for cpu := range there {
			if set[cpu] {
				shared++
			}
		}
		if shared == 0 {
			continue
		}
		f.Related = append(f.Related, v.processes[0].Subject)
		f.Text += fmt.Sprintf("; %s, bound to CPU %s too, used %s of it", v.name(), v.processes[0].Last().CPUs, units.Lasting(v.used))
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: v.used, Unit: "s", Source: source.Stat.As("/proc/PID/stat utime, stime"), Origin: "process time",
			Text: fmt.Sprintf("%s may run on CPU %s and used %s of CPU time", v.name(), v.processes[0].Last().CPUs, units.Lasting(v.used))})
		f.Remedy.Permanently = fmt.Sprintf("Keep %s off CPU %s (CPUAffinity=). Or: %s", v.name(), list, f.Remedy.Permanently)
		return
	}
}
