package pool

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// lockBooked is the least share of a felt delay that makes a lock its cause, and oneLock how
// much of the waits must be for one and the same.
const (
	lockBooked = 0.25
	oneLock    = 0.5
	fewWaits   = 20 // looks that found a thread waiting; fewer are chance
)

// bookedConvoy is a process whose late answers wait for a lock, too shortly each time for a
// look a second: told by the states of its threads. nil: they do not.
func bookedConvoy(p *scene.Process, r *recording.Recording, l *ledger.Ledger) *suspect.Finding {
	pid := p.Subject.PID
	share := l.Booked(pid, ledger.Lock)
	longer, p99, p50 := l.Longer(pid)
	if share < lockBooked && longer == 0 {
		return nil
	}
	waits, all, waited := map[uint64]int{}, 0, 0.0
	tids, waiters := map[uint64]map[int]bool{}, map[uint64]int{}
	seconds := map[uint64][]recording.Interval{}
	looked := recording.Time(0) // when its threads were first looked at
	for _, row := range r.ThreadStates {
		if row.PID != pid {
			continue
		}
		if looked == 0 {
			looked = row.T
		}
		if !row.Lock {
			continue
		}
		all += int(row.N)
		waited += float64(row.N) / float64(max(row.Looks, 1))
		waits[row.Futex] += int(row.N)
		if tids[row.Futex] == nil {
			tids[row.Futex] = map[int]bool{}
		}
		tids[row.Futex][row.TID] = true
		waiters[row.Futex] = max(waiters[row.Futex], row.Threads, len(tids[row.Futex])) // a row may be of several
		seconds[row.Futex] = append(seconds[row.Futex], measure.OneSecond(row.T))
	}
	address, n := fullest(waits)
	if all < fewWaits || float64(n) < oneLock*float64(all) || waiters[address] < 2 {
		return nil
	}
	tail := share < lockBooked // few answers wait for it: the mean tells nothing
	if tail && !agrees(waited, longer) {
		return nil
	}
	f := &suspect.Finding{Subject: p.Subject, Text: fmt.Sprintf("%s of it wait for one lock, at 0x%x", units.Plural(waiters[address], "thread"), address)}
	if active := intervals.Merge(seconds[address], measure.Joined); active[0].Start > looked.Add(measure.Joined) { // else it may have been so before
		f.Active = active
	}
	looks := source.ThreadState.As("the states of its threads, about 20 samples per second")
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: looks.And(source.AllTurns), Origin: "ledger",
			Text: fmt.Sprintf("%.0f %% of the delay of its answers was waiting for a lock", 100*share)},
		{Side: suspect.For, Grade: suspect.Strong, Value: float64(n), Unit: "samples", Source: looks, Origin: "futex",
			Text: fmt.Sprintf("in %s of %s samples that found a thread waiting for a lock it was the one at 0x%x", units.Count(float64(n)), units.Count(float64(all)), address)},
	}
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: share, Unit: "share", Text: f.Text}
	if tail {
		f.Evidence[0], f.Harm = ofTheLate(waited, longer, p99, p50, looks.And(source.AllTurns))
	}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: let go of the lock before waiting for others, or split it.", p.Subject.Comm)}
	f.Next = stackOf(p, fmt.Sprintf(" at 0x%x", address))
	return f
}

// ofTheLate is the evidence that the late answers of a service are those that wait for a lock, as long in all as it
// was waited for, and what that harms.
func ofTheLate(waited, longer, p99, p50 float64, from source.Source) (suspect.Evidence, suspect.Harm) {
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: waited, Unit: "s", Source: from, Origin: suspect.InStep,
			Text: fmt.Sprintf("its threads waited for a lock for %s in all, and by %s in all its late answers took longer than half of them do", units.Lasting(waited), units.Lasting(longer))},
		suspect.Harm{Symptom: scene.RequestLatency, Amount: p99 - p50, Unit: "s", Text: fmt.Sprintf("one in a hundred of its answers takes %s, half of them %s: those wait for a lock", units.Short(p99), units.Short(p50))}
}

// calledAlone is a process whose late answers wait while its threads make calls one at a time: each
// of them has a lock while it is in one. It tells of runtimes that park each thread at a word of
// its own (Java), of which no look reports who waits for whom. nil: they do not.
func calledAlone(p *scene.Process, l *ledger.Ledger) *suspect.Finding {
	pid := p.Subject.PID
	share := l.Booked(pid, ledger.Lock)
	if share < lockBooked {
		return nil
	}
	for _, a := range l.Alone {
		if !slices.Contains(a.Party.PIDs, pid) {
			continue
		}
		f := &suspect.Finding{Subject: p.Subject, Active: a.Active, Text: fmt.Sprintf("%d threads of it call %s, and never two at once: %.2g requests wait meanwhile", a.Threads, a.Address, a.Waiting)}
		f.Evidence = []suspect.Evidence{
			{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.AllTurns.And(source.ThreadState), Origin: "ledger",
				Text: fmt.Sprintf("%.0f %% of the delay of its answers was waiting in line behind these calls", 100*share)},
			{Side: suspect.For, Grade: suspect.Strong, Value: a.Calls, Unit: "calls", Source: source.CallTurns.And(source.ThreadState), Origin: "calls",
				Text: fmt.Sprintf("%d threads of it were found in a call to %s, and in %.0f seconds in which requests waited one such call was open at a moment (%.2g on average), on more than one connection", a.Threads, a.Address, intervals.Seconds(a.Active, 0), a.Calls)},
		}
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: share, Unit: "share", Text: f.Text}
		f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: do not hold the lock while %s is waited for. A pool of connections, or a lock for each.", p.Subject.Comm, a.Address)}
		f.Next = stackOf(p, "")
		return f
	}
	return nil
}

// stackOf is the command that shows which lock its threads wait for.
func stackOf(p *scene.Process, which string) string {
	pid := p.Subject.PID
	if measure.RunsJava(p) {
		return fmt.Sprintf("jstack %d   # which method is \"locked\" and which threads are \"waiting to lock\"; snag names it itself where the methods have a map: jcmd %d Compiler.perfmap, with -XX:+PreserveFramePointer", pid, pid)
	}
	return fmt.Sprintf("eu-stack -p %d   # or: gdb -p %d -batch -ex 'thread apply all bt': which function holds the lock%s", pid, pid, which)
}
