package host

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var cpuSaturated = &suspect.Suspect{
	Name:  "cpu-saturated",
	Title: "all CPUs are busy, and a service waits for one",
	About: "More threads want to run than there are CPUs, and those that answer requests stand in the queue with the rest. " +
		"A machine that compiles or computes with all its CPUs is well used, not faulty, as long as its services answer in time. " +
		"Where the hypervisor gave the CPUs to others (steal), the noisy neighbour is outside of this machine.",
	Needs: []suspect.Need{
		{Measure: "host.cpu", Must: true, Why: "how busy the CPUs were, and what the hypervisor took"},
		{Measure: "threads.sched", Why: "how long the threads of services were ready and did not run"},
		{Measure: "host.processes", Why: "who used the CPUs"},
		{Measure: "host.pressure", Why: "how much of the time somebody waited for a CPU"},
		{Measure: "sockets.turns", Why: "what of a request's time was waiting for a CPU"},
	},
	For: []string{
		"strong: the CPUs were idle for less than a tenth of the window (healthy: more than a fifth), or of three seconds and more in which a service that is late did three quarters of its waiting",
		"strong: threads of a service were ready and waited for a CPU, a tenth of the time and a third of what they wanted to run",
		"decisive: the hypervisor took a quarter of the CPU time that this machine asked for, or did so in three seconds and more (steal; healthy under 2 %)",
		"weak: CPU pressure, and a service that is late",
	},
	Against: []string{
		"strong: no service that waited was late: a compile or a batch on all CPUs is what they are for",
		"decisive: a quota throttled the threads (cpu-throttled), or requests spent less than a tenth of their time in the queue (less than a fifth by the states of the threads). Late answers of a busy machine are late for something else",
		"what computes beside a service leaves the CPUs to it by its policy (SCHED_IDLE) or its nice value (15 and more), in the same control group: that is as good as idle",
		"the CPUs are idle a tenth of the time and more: then it is run-queue-wait, if anything; so they are where snag's own load (--load) is what fills them",
	},
	LeadsTo: measure.LatencyLeads(suspect.Lead{To: "udp-receive-buffer-full", Lag: measure.FeltWithin}, suspect.Lead{To: "listen-overflow", Lag: 2 * measure.FeltWithin}),
	Claims:  []ledger.Account{ledger.CPU},
	Remedy: suspect.Remedy{
		Now:         "systemctl set-property --runtime UNIT CPUWeight=20",
		Permanently: "CPUWeight= or Nice= in the unit of whoever computes beside the service, or more CPUs.",
		Program:     "Fewer threads of what computes, or less work for each request.",
	},
	Verified: "the run delay of the service's threads is under a tenth of their time",
	Next:     "snag find --pid PID; pidstat -u 1; cat /proc/PID/task/*/schedstat",

	WeighBooked: weighSaturated,
}

func weighSaturated(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	all, ok := measure.CPUTimes(r, nil)
	if !ok {
		return nil
	}
	var out []suspect.Finding
	if f := stolen(r, l, all); f != nil {
		out = append(out, *f)
	}
	if full := all.IdleShare() < measure.BusyIdle; full && (all.Idle+r.LoadCPU())/all.Total >= measure.BusyIdle {
		return out // without snag's own load they would not be full
	}
	var late []cpuWait
	used, busy := rivals(s, r), all
	for _, w := range cpuWaits(s, r) {
		if w.late() && (all.Idle+givenTo(used, w.process))/all.Total < measure.BusyIdle {
			late = append(late, w)
		}
	}
	if all.IdleShare() >= measure.BusyIdle {
		if late = nil; !fullForAWhile(s, r, used, &busy, &late) {
			return out
		}
	}
	if _, ok := r.Measured("threads.sched"); !ok {
		return append(out, unfollowed(all))
	}
	if len(late) == 0 {
		return out
	}
	return append(out, saturated(s, r, l, all, busy, late))
}

// fullForAWhile finds who waited while all CPUs were busy, for a part of the window.
func fullForAWhile(s *scene.Scene, r *recording.Recording, used []rival, busy *measure.CPUTime, late *[]cpuWait) bool {
	full, ok := measure.FullCPUs(r)
	if !ok {
		return false
	}
	*busy = full
	for _, w := range cpuWaits(s, r) {
		if w.whileFull(s, full) && givenTo(used, w.process) == 0 {
			w.active = full.While
			*late = append(*late, w)
		}
	}
	return len(*late) > 0
}

// unfollowed is what can be told of full CPUs where no thread was followed.
func unfollowed(all measure.CPUTime) suspect.Finding {
	return suspect.Finding{
		Subject: recording.Subject{Kind: recording.KindHost}, Evidence: []suspect.Evidence{all.Busy(),
			{Side: suspect.Missing, Source: source.Schedstat.As("threads.sched"), Text: "whether a service waited for them was not measured"}},
		Text: fmt.Sprintf("the CPUs were idle for %.0f %% of the time only", 100*all.IdleShare()),
		Next: "snag find --pid PID of the service that is late",
	}
}

func saturated(s *scene.Scene, r *recording.Recording, l *ledger.Ledger, all, busy measure.CPUTime, late []cpuWait) suspect.Finding {
	// Who is late for it comes before who is late for something else, and who merely waits last.
	worst := late[0]
	for _, w := range late {
		if lateness(s, w.process) == nil {
			continue
		}
		if elsewhere := w.elsewhere(s, l); elsewhere == nil || lateness(s, worst.process) == nil {
			worst = w
			if elsewhere == nil {
				break
			}
		}
	}
	f := suspect.Finding{Active: worst.active, Subject: worst.process.Subject}
	f.Evidence = []suspect.Evidence{busy.Busy(), worst.evidence()}
	for _, w := range late[:min(len(late), 5)] {
		if lateness(s, w.process) != nil || !onlyAsks(r, w.process.Subject.PID) {
			f.Related = append(f.Related, w.process.Subject)
		}
	}
	if psi, ok := shareOfWindow(r, "node_pressure_cpu_waiting_seconds_total"); ok {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: psi, Unit: "share", Source: source.Of("/proc/pressure/cpu some", source.PressureCPU), Origin: "cpu pressure",
			Text: fmt.Sprintf("somebody waited for a CPU for %.0f %% of the time", 100*psi)})
	}
	blame(&f, s, r, all, worst)
	if e := worst.throttled(r); e != nil {
		f.Evidence = append(f.Evidence, *e)
	}
	if e := worst.elsewhere(s, l); e != nil {
		f.Evidence = append(f.Evidence, *e)
	}
	addHarm(&f, s, r, worst, late)
	f.Next = fmt.Sprintf("cat /proc/%d/task/*/schedstat; pidstat -u 1 5", worst.process.Subject.PID)
	return f
}

// onlyAsks tells of a client of request and answer: when it waits for a CPU, that makes the
// service that it asks no later.
func onlyAsks(r *recording.Recording, pid int) bool {
	whole := []recording.Interval{{Start: r.Manifest.Start, End: r.Manifest.End}}
	return measure.TurnsOf(r, pid, "call", "", whole).N > 0 && measure.TurnsOf(r, pid, "serve", "", whole).N == 0
}

// blame names who used the CPUs: the subject is who should get less, or the
// service itself where it alone is what they are busy with.
func blame(f *suspect.Finding, s *scene.Scene, r *recording.Recording, all measure.CPUTime, w cpuWait) {
	self := w.process.Subject
	if how, ok := leaves(w.process.Last()); ok {
		f.Text = fmt.Sprintf("%s: %s runs only when no other program wants a CPU, and waited for one for %s", how, self.Name, units.Lasting(w.waited))
		f.Remedy = suspect.Remedy{Permanently: "Nice=0 and CPUSchedulingPolicy=other in its unit, or no nice and no chrt where it is started, if somebody waits for it."}
		return
	}
	used := rivals(s, r)
	top := rivalOf(used, w.process)
	if top == nil || top.used < w.ran || top.used < 0.1*all.Total {
		f.Text = fmt.Sprintf("%s needs more CPU than there is: it ran for %s and waited for %s", self.Name, units.Lasting(w.ran), units.Lasting(w.waited))
		f.Remedy = suspect.Remedy{Permanently: "More CPUs for " + self.Name + ".", Program: "Less work for each request."}
		if top == nil || top.used < 0.1*all.Total {
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Source: source.Of("table processes"), Text: "who else used the CPUs was not seen: short-lived processes leave no row"})
		}
		return
	}
	first := top.processes[0]
	f.Subject = first.Subject
	for _, p := range top.processes[1:min(len(top.processes), 4)] {
		f.Related = append(f.Related, p.Subject)
	}
	f.Text = fmt.Sprintf("%s used %s of the %s of CPU time that there were, and %s waited for a CPU for %s", top.name(), units.Lasting(top.used), units.Lasting(all.Total), self.Name, units.Lasting(w.waited))
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: top.used, Unit: "s", Source: source.Stat.As("/proc/PID/stat utime, stime"), Origin: "process time",
		Text: fmt.Sprintf("%s used %s of CPU time, %s itself %s", top.name(), units.Lasting(top.used), self.Name, units.Lasting(w.ran))})
	f.Remedy = top.yields(s, r, w.process)
	asks, answers := w.process, top
	if lateness(s, w.process) == nil { // whom does it serve?
		asks, answers = top.processes[0], rivalWith(used, w.process)
	}
	if onlyFor(asks, answers) {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: answers.used, Unit: "s", Source: source.SS("-tnp"), Origin: "who asks",
			Text: fmt.Sprintf("%s answers %s, which asks in a closed loop and serves no client: it takes all CPU that is free", answers.name(), asks.Subject.Name)})
	}
}

// onlyFor tells of a process that asks the rival's service, and serves nobody itself, as a load
// test does: what that service takes is its doing.
func onlyFor(p *scene.Process, v *rival) bool {
	asks, all := 0, 0
	if v == nil {
		return false
	}
	for _, k := range p.Sockets {
		switch {
		case k.Listening() || k.Listener != nil:
			return false
		case k.First().Remote != "":
			all++
			if k.Peer != nil && slices.ContainsFunc(v.processes, func(o *scene.Process) bool { return slices.Contains(k.Peer.Owners, o) }) {
				asks++
			}
		}
	}
	return all > 0 && float64(asks) >= 0.9*float64(all)
}

// addHarm says whether anybody felt the wait, and how much of it a request met.
func addHarm(f *suspect.Finding, s *scene.Scene, r *recording.Recording, w cpuWait, late []cpuWait) {
	wait, share := w.perRequest(r)
	if share != nil {
		f.Evidence = append(f.Evidence, *share)
	}
	var waited []*scene.Process
	for _, one := range late {
		waited = append(waited, one.process)
	}
	e := felt(s, waited...)
	f.Evidence = append(f.Evidence, e)
	if e.Side == suspect.Against { // a service that asks them, and is late, waits for something else
		whole := []recording.Interval{s.Window}
		f.Related = slices.DeleteFunc(f.Related, func(sub recording.Subject) bool { return measure.TurnsOf(r, sub.PID, "serve", "", whole).N > 0 })
	}
	if e.Side == suspect.For && wait > 0 {
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: wait, Unit: "s", Text: fmt.Sprintf("%s of a typical request of %s was waiting for a CPU", units.Lasting(wait), w.process.Subject.Name)}
	}
}
