package pool

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var spinLock = &suspect.Suspect{
	Name:  "spin-lock",
	Title: "threads spin for a lock and burn the CPU that its holder needs",
	About: "Threads that wait for a lock in a loop never sleep: they look busy, and take the CPU from the one that holds it. The more of them there are, the less gets done. " +
		"A program that computes looks the same from outside: only less work done with more threads, or the name of the function, distinguishes the two.",
	Needs: []suspect.Need{
		{Measure: "host.cpu", Must: true, Why: "whether the CPUs are busy at all"},
		{Measure: "threads.sched", Why: "time on a CPU and in line for one; which thread gave it up, and which was preempted"},
		{Measure: "threads.syscall", Why: "that they are in no call, in futex least of all"},
		{Measure: "sockets.turns", Why: "how much work is done with how many threads at it"},
		{Measure: "oncpu.stacks", Why: "which function they are in, several at once"},
		{Measure: "oncpu.symbols", Why: "its name"},
		{Measure: "oncpu.loops", Why: "whether its code does work, or only waits for another thread"},
		{Measure: "offcpu.stacks", Why: "who called it, where a walk by frame pointers does not show"},
		{Measure: "locks.futex", Why: "whether they sleep for a lock instead"},
	},
	For: []string{
		"strong: two threads or more want a CPU all the time, are asleep in hardly any sample and never give the CPU up, while answers are late (involuntary switches 32,000; none in futex)",
		"strong: with more threads at work than there are CPUs, less than half was answered for the same CPU time",
		"strong: several threads at once are in one function that is known to spin (59 % of the samples in pthread_spin_lock), more of them than there are CPUs, or three quarters of all samples",
		"strong: so they are, in a loop that only reads memory, tries an atomic exchange or pauses, until another thread writes; decisive where there are more threads than CPUs, with three quarters of all samples",
		"strong, twice: two fifths of the samples of a process that shares its threads among tasks are in such a loop, in two seconds or more by two threads at once. Its late answers took 2.5 times as long in these",
		"weak: so they are, in a function that may as well compute",
	},
	Against: []string{
		"strong: no request waits for it: a program that computes",
		"strong: its threads sleep in futex: that lock does not spin",
		"decisive: the code at their samples was read, and less than a twentieth is in a loop that may wait: they compute (sha256, an encoder)",
		"strong: their samples are spread over many functions, and none is known to spin",
		"can't tell: a loop that counts with atomic operations, or that calls a function for each try. Without less work from more threads it stays suspected",
	},
	LeadsTo: []suspect.Lead{
		{To: "server-stall", Lag: 5 * time.Second}, {To: "encoder-stall", Lag: 5 * time.Second}, {To: "reader-stall", Lag: 5 * time.Second},
		{To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 10 * time.Second}, {To: scene.CPUBurn, Lag: 5 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second},
		{To: "cpu-saturated", Lag: 10 * time.Second}, {To: "run-queue-wait", Lag: 10 * time.Second}, {To: "listen-overflow", Lag: 10 * time.Second}, {To: "slow-dependency", Lag: 5 * time.Second}, {To: "worker-queue", Lag: 10 * time.Second}},
	Claims: []ledger.Account{ledger.Work, ledger.CPU},
	Remedy: suspect.Remedy{
		Permanently: "No more threads than CPUs, in its configuration.",
		Program:     "A mutex that sleeps (pthread_mutex, PTHREAD_MUTEX_ADAPTIVE_NP), or a back-off in the loop.",
	},
	Verified: "involuntary switches fall, and more is answered",
	Next:     "perf record -g -p PID -- sleep 5; perf report   # the share of one spin function",
	Weigh:    weighSpinLock,
}

const (
	// wantsCPU is the share of time that a spinning thread runs or waits to run.
	wantsCPU = 0.9
	// givesUp is how often a second, at most, it gives the CPU up by itself: a spinner
	// that serves requests sleeps for one now and then (3–12 per second where each thread
	// answered 125), one that sleeps for its lock or for each request does so at each.
	givesUp = 20.0
	// inCallAtMost is the share of looks that may find one in a call: between two
	// requests it asks for the next.
	inCallAtMost = 0.2
	// shortSpan is how long a thread must be seen that never gives the CPU up; others longer.
	shortSpan = 1.5 // s
	// fewSpinners: one thread that is always busy computes.
	fewSpinners = 2
	// lessDone for the same CPU time with more threads: a half is no noise, and no
	// cache that has become colder.
	lessDone = 0.5
)

// spinners are the threads of a process that always want a CPU.
type spinners struct {
	threads            int
	ran, delayed       float64 // s
	taken, given       float64 // switches per second: the CPU was taken, or given up
	calls, looks, lock int     // looks at them: in a call; in all; at threads in futex for a lock
}

func spinnersOf(p *scene.Process) spinners {
	var s spinners
	for _, t := range p.Threads {
		a, b := t.Rows[0], t.Rows[len(t.Rows)-1]
		seconds := b.T.Sub(a.T).Seconds()
		inCall, looked := 0, 0
		for _, row := range t.Rows {
			if row.Lock {
				s.lock++
			}
			if row.Syscall == "" {
				continue
			}
			looked++
			if row.Syscall != "running" && row.State != "R" {
				inCall++
			}
		}
		if measure.Collects(b.Comm) || seconds < shortSpan || looked == 0 || seconds < 3 && b.Voluntary > a.Voluntary {
			continue
		}
		ran, delay := b.OnCPU-a.OnCPU, b.RunDelay-a.RunDelay
		given := (float64(b.Voluntary) - float64(a.Voluntary)) / seconds
		if (ran+delay)/seconds < wantsCPU || given > givesUp || float64(inCall) > inCallAtMost*float64(looked) {
			continue
		}
		s.threads++
		s.ran += ran
		s.delayed += delay
		s.given += given
		s.taken += (float64(b.Involuntary) - float64(a.Involuntary)) / seconds
		s.looks += looked
		s.calls += inCall
	}
	return s
}

func weighSpinLock(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, p := range s.Processes {
		if p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		if sp := spinnersOf(p); sp.threads >= fewSpinners {
			out = append(out, sp.finding(p, s, r))
		} else if f, ok := spinsByCode(p, s, r); ok {
			out = append(out, f)
		}
	}
	return out
}

func (sp spinners) finding(p *scene.Process, s *scene.Scene, r *recording.Recording) suspect.Finding {
	pid := p.Subject.PID
	f := suspect.Finding{Subject: p.Subject, Text: fmt.Sprintf("%d threads always want a CPU, and may spin for a lock", sp.threads)}
	sym, late := latencyOf(s, pid)
	crowd := &inStep{}
	if !late {
		if crowd, late = crowded(p, r); late {
			sym.Text = crowd.text()
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: crowd.slow.mean(), Unit: "s", Source: source.Turns.And(source.Schedstat), Origin: suspect.InStep, Text: sym.Text})
		}
	}
	busy := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(sp.threads), Unit: "threads", Source: source.Schedstat.As(fmt.Sprintf("/proc/%d/task/*/schedstat, status, syscall", pid)), Origin: "thread states",
		Text: fmt.Sprintf("%d threads ran for %s and waited for a CPU for %s in all; the CPU was taken from them %s times per second and given up %s times; they were asleep in a call in %d of %s samples",
			sp.threads, units.Lasting(sp.ran), units.Lasting(sp.delayed), units.Count(sp.taken), units.Count(sp.given), sp.calls, units.Count(float64(sp.looks)))}
	if !late {
		busy.Grade = suspect.Weak
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.Of("symptoms"), Origin: "symptoms", Text: "no client was seen waiting for it: a program that computes looks so"})
	} else {
		busy.Text += "; " + sym.Text
	}
	if sp.lock > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: float64(sp.lock), Unit: "samples", Source: source.CallsOf(pid), Origin: "futex",
			Text: fmt.Sprintf("other threads of it were asleep in futex for a lock in %d samples: its locks do not spin for long", sp.lock)})
	}
	f.Evidence = append(f.Evidence, busy)
	f.Evidence = append(f.Evidence, sleptForLocks(p, sp, r)...)
	hot, said := sp.profiled(p, r)
	f.Evidence = append(f.Evidence, said...)
	few, many, less, more, ok := workByThreads(p, r)
	if !ok { // its threads were looked at too late: how many it had is known from before
		few, many, less, more, ok = workByCount(p, r)
	}
	switch {
	case ok && more <= lessDone*less && many > float64(r.Manifest.CPUs):
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: more / less, Unit: "ratio", Source: source.Turns.And(source.Schedstat), Origin: "turns",
			Text:  fmt.Sprintf("with %.0f threads at work it answered %s requests for a second of CPU time, with %.0f of them %s", few, units.Count(less), many, units.Count(more)),
			Doubt: heavier(hot)})
		f.Text = fmt.Sprintf("%.0f threads do less than %.0f did: they spin for a lock (%s answers for a second of CPU time, %s before)", many, few, units.Count(more), units.Count(less))
		if len(crowd.active) > 0 && late {
			f.Active, f.Harm = crowd.active, crowd.harm("its spinning threads")
			f.Harm.Text = crowd.text()
		} else if late {
			f.Harm = suspect.Harm{Symptom: scene.ThroughputPlateau, Amount: 1 - more/less, Unit: "ratio", Text: fmt.Sprintf("%.0f %% of the answers that its CPU time was good for are missing", 100*(1-more/less))}
		}
	case ok && more >= 0.8*less:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: more / less, Unit: "ratio", Source: source.Turns.And(source.Schedstat), Origin: "turns",
			Text: fmt.Sprintf("with %.0f threads at work it answered %s requests for a second of CPU time, with %.0f of them %s: they work", few, units.Count(less), many, units.Count(more))})
	case hot == nil:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Source: source.Of("perf"), Text: "which function they are in was not measured: a loop for a lock and a loop that computes look the same from outside"})
	}
	f.Calls = spinCalls(p.Subject, max(r.Manifest.CPUs, 1))
	f.Remedy = sleepInstead(p.Subject.Comm, "the spinning loop", r)
	if hot != nil && hot.spins {
		sp.name(&f, hot, late, s, r)
		return f
	}
	f.Next = fmt.Sprintf("perf record -g -p %d -- sleep 5 && perf report --no-children | head -30   # one spin function above half is the proof", pid)
	return f
}

// spinsByCode is a process that shares its threads among many tasks, as Go does: none of them wants a
// CPU all the time, but where it had them all, most of it was in loops that only another can end.
func spinsByCode(p *scene.Process, s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	code := spinLoopsOf(p, r)
	if code == nil || code.share() < spinShare || code.together < 2 {
		return suspect.Finding{}, false
	}
	in, most := &inStep{}, uint64(0)
	for _, pass := range []bool{false, true} {
		for _, row := range r.Loops {
			switch {
			case row.PID != p.Subject.PID || !row.Spins() || row.Threads < fewSpinners:
			case !pass:
				most = max(most, row.N)
			case 2*row.N >= most: // less of a second is its beginning or its end
				in.active = append(in.active, measure.OneSecond(row.T))
			}
		}
	}
	in.active = intervals.Merge(in.active, 0)
	in.answers(p, r, nil)
	_, late := latencyOf(s, p.Subject.PID)
	if !in.longer() || !late {
		return suspect.Finding{}, false
	}
	said, _ := code.evidence(spinners{}, r.Manifest.CPUs, false)
	said.Grade = suspect.Strong
	f := suspect.Finding{Subject: p.Subject, Active: in.active, Remedy: sleepInstead(p.Subject.Comm, code.most.Function, r), Calls: spinCalls(p.Subject, max(r.Manifest.CPUs, 1)),
		Text: fmt.Sprintf("its threads spin for a lock: %.0f %% of its samples are in %s, in a loop that only another thread can end", 100*code.share(), code.most.Function),
		Evidence: []suspect.Evidence{said, {Side: suspect.For, Grade: suspect.Strong, Value: in.slow.mean(), Unit: "s", Source: source.Turns, Origin: suspect.InStep,
			Text: fmt.Sprintf("in the seconds in which two threads of it or more were there its answers took %s, %s at other times", units.Short(in.slow.mean()), units.Short(in.usual.mean()))}}}
	return f, true
}

// crowded are the seconds in which many threads of a process wanted a CPU, more than there are, with
// what its answers took in them and at other times: true where they took several times as long.
func crowded(p *scene.Process, r *recording.Recording) (*inStep, bool) {
	t := &inStep{}
	looks := measure.LooksAt(p)
	running := make([]int, len(looks))
	most := 0
	for i, l := range looks {
		for _, row := range l.Rows {
			if row.State == "R" || row.Syscall == "running" {
				running[i]++
			}
		}
		most = max(most, running[i])
	}
	if most <= r.Manifest.CPUs {
		return t, false
	}
	var few []recording.Interval
	for i := 1; i < len(looks); i++ { // of a second in which they begin or end nothing is told
		span := recording.Interval{Start: looks[i-1].T, End: looks[i].T}
		switch a, b := 2*running[i-1] >= most, 2*running[i] >= most; {
		case a && b:
			t.active = append(t.active, span)
		case !a && !b:
			few = append(few, span)
		}
	}
	t.active = intervals.Merge(t.active, 0)
	t.answers(p, r, few)
	return t, t.longer()
}

// answers adds up how long the answers of a process took in the slow seconds and in the usual ones;
// nil: those are all others.
func (t *inStep) answers(p *scene.Process, r *recording.Recording, usual []recording.Interval) {
	for _, row := range r.Turns {
		second := measure.OneSecond(row.T)
		mid := second.Start + (second.End-second.Start)/2
		if row.Role == "serve" && row.PID == p.Subject.PID && (usual == nil || intervals.Cover(usual, mid) || intervals.Cover(t.active, mid)) {
			t.add(&t.usual, &t.slow, mid, row.N, row.Sum) // what waits unread waits for a CPU too
		}
	}
}

// longer reports that answers took several times as long in the slow seconds, and long enough.
func (t *inStep) longer() bool {
	return t.grew(t.usual, t.slow) && t.slow.mean() >= slowerBy*t.usual.mean() && t.slow.mean()-t.usual.mean() >= ledger.FaintEach
}

func (t *inStep) text() string {
	return fmt.Sprintf("its answers took %s while so many wanted a CPU, %s at other times", units.Short(t.slow.mean()), units.Short(t.usual.mean()))
}

// workByThreads compares the seconds in which many threads of the process wanted a
// CPU with those in which few did: how many threads, and what was answered for each
// second of CPU time. By that time, and not by the clock's: a process from which others
// take the CPU answers less as well, with more of its threads in line. False where
// their number did not change by a half, either was seen for less than three seconds, or
// answers were counted in slices of the time only.
func workByThreads(p *scene.Process, r *recording.Recording) (few, many, less, more float64, ok bool) {
	if r.ShareOf("sockets.turns") < 1 {
		return 0, 0, 0, 0, false
	}
	var answered measure.Steps
	for _, t := range r.Turns {
		if t.PID == p.Subject.PID && t.Role == "serve" {
			answered = append(answered, measure.Step{Interval: measure.OneSecond(t.T), N: float64(t.N)})
		}
	}
	type span struct{ running, done, cpu float64 }
	var all []span
	least, most := 0.0, 0.0
	looks := measure.LooksAt(p)
	for i := 0; i+1 < len(looks); i++ {
		s := span{}
		for _, row := range looks[i].Rows {
			if row.State == "R" || row.Syscall == "running" {
				s.running++
			}
		}
		for _, row := range looks[i+1].Rows {
			if before := looks[i].Thread(row.TID); before != nil {
				s.cpu += row.OnCPU - before.OnCPU
			}
		}
		s.done, _ = answered.Between(recording.Interval{Start: looks[i].T, End: looks[i+1].T})
		if s.running == 0 || s.cpu < 0.1 {
			continue
		}
		all = append(all, s)
		if least == 0 || s.running < least {
			least = s.running
		}
		most = max(most, s.running)
	}
	var a, b []span
	for _, s := range all {
		if s.running < (least+most)/2 {
			a = append(a, s)
		} else {
			b = append(b, s)
		}
	}
	if len(a) < 3 || len(b) < 3 || len(answered) == 0 {
		return 0, 0, 0, 0, false
	}
	mean := func(in []span) (running, work float64) {
		cpu := 0.0
		for _, s := range in {
			running += s.running / float64(len(in))
			work += s.done
			cpu += s.cpu
		}
		return running, work / cpu
	}
	few, less = mean(a)
	many, more = mean(b)
	return few, many, less, more, many >= 1.5*few && less > 0
}
