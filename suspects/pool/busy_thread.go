package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var busyThread = &suspect.Suspect{
	Name:  "busy-thread",
	Title: "one thread is busy with one thing, and all others wait for it",
	About: "An event loop, a server of one thread or an interpreter with one lock does one thing at a time. While it computes something long (a report, one command over many keys, a regular expression), " +
		"all requests of that process wait unread in the socket buffer, and CPUs stand idle beside it. An event loop that sleeps in the middle of its work does the same. A load that fills the thread with small requests waits for itself; a thread that is ready and gets no CPU does not compute.",
	Needs: []suspect.Need{
		{Measure: "sockets.turns", Must: true, Why: "which answers are late, and how long requests waited to be read"},
		{Measure: "states", Must: true, Why: "what its threads did meanwhile"},
		{Measure: "threads.state", Must: true, Why: "how much CPU time each thread used"},
		{Measure: "host.cpu", Why: "whether CPUs were idle beside it"},
		{Measure: "oncpu.stacks", Why: "in which function"},
	},
	For: []string{
		"strong: a fifth or more of the delay of its answers, which are uneven, was waiting in line behind computing",
		"strong: the process used one CPU on average at the most, and CPUs were idle",
		"strong, where only some answers are late: around these one thread, which does four fifths of the work, computed for half of the longest, and four times as much for each answer as at other times",
		"strong, against a baseline: a request computes for twice as long as there",
		"strong, twice: a fifth or more of the delay was waiting in line behind the one thread that does nine tenths of the work and else waits for events, and that slept by a timer",
	},
	Against: []string{
		"decisive: its process used hardly any CPU",
		"decisive: its threads waited for a CPU, a quota or a pause of the runtime longer than they computed",
		"decisive: two fifths of its samples were in loops that only another thread can end: it spins for a lock",
		"trap: a benchmark at full rate: its answers are alike, and it waits for itself",
		"can't tell: which request it was, where no function is known",
	},
	LeadsTo: []suspect.Lead{{To: scene.RequestLatency, Lag: measure.FeltWithin}, {To: scene.ConnectLatency, Lag: measure.FeltWithin}, {To: scene.StreamFreeze, Lag: measure.FeltWithin}, {To: scene.StreamLate, Lag: measure.FeltWithin},
		{To: "slow-dependency", Lag: measure.FeltWithin}, {To: "worker-queue", Lag: measure.FeltWithin}, {To: "listen-overflow", Lag: measure.FeltWithin}},
	Claims:   []ledger.Account{ledger.Work, ledger.Sleep},
	Remedy:   suspect.Remedy{Program: "Give the long task to another thread or process. Or cut it into pieces, and let others have their turn between them."},
	Verified: "requests are read at once while it runs",
	Next:     "snag profile --pid PID   # in which function",

	WeighBooked: weighBusyThread,
}

// behindWork is the least share of a felt delay that is in line behind computing.
const behindWork = 0.2

// oneCPU is how many CPUs a process uses at the most where it does one thing at a time;
// runtimes have helpers, and a task may move between threads.
const oneCPU = 1.2

// alone is the share of a process' work that one thread does for all, and neverIdle of the time that
// it wants a CPU, where it can't keep up.
const alone, neverIdle = 0.9, 0.8

// leastCPU: who computes for a time that is felt uses more.
const leastCPU = 0.05

func weighBusyThread(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	var out []suspect.Finding
	named := map[*ledger.Party]bool{}
	for _, d := range l.Felt {
		share, slept := 0.0, 0.0
		for _, p := range d.By {
			switch p.Account {
			case ledger.Work:
				share = p.Share
			case ledger.Sleep:
				slept = p.Share
			}
		}
		if d.Party.Role != ledger.Serves {
			continue
		}
		if f, ok := sleepingLoop(s, r, d, slept); ok {
			out = append(out, f)
			named[d.Party] = true
			continue
		}
		if share < behindWork {
			continue
		}
		if t := measure.BusiestOf(s, d.Party.PIDs); t != nil {
			out = append(out, busyFinding(t, s, r, d, share))
			named[d.Party] = true
		}
	}
	for _, p := range l.Parties {
		if p.Role != ledger.Serves || named[p] {
			continue
		}
		if f, ok := busyWhenLate(s, r, p); ok {
			out = append(out, f)
		}
	}
	return out
}

// sleepingLoop is an event loop that sleeps by a timer while requests wait for it.
func sleepingLoop(s *scene.Scene, r *recording.Recording, d ledger.Delay, share float64) (suspect.Finding, bool) {
	b := measure.BusiestOf(s, d.Party.PIDs)
	if share < behindWork || b == nil || len(d.Party.PIDs) > 1 { // of processes each has its own
		return suspect.Finding{}, false
	}
	pid := b.Process.Subject.PID
	tid, call, ok := ledger.SleepingLoop(r, pid)
	if !ok {
		return suspect.Finding{}, false
	}
	f := suspect.Finding{Subject: b.Process.Subject, Active: d.Active, Related: []recording.Subject{d.Party.Subject},
		Text: fmt.Sprintf("its requests wait unread in the socket buffer while thread %d (%s), its event loop, sleeps in %s: %.2g at any moment", tid, b.Comm, call, d.Held*share),
		Next: fmt.Sprintf("eu-stack -p %d   # who sleeps", pid)}
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.Turns.And(source.ThreadState.As("states of its threads")), Origin: "turns",
			Text: fmt.Sprintf("%.0f %% of the delay of its answers (%s each, one in a hundred over %s, half of them under %s) was waiting in line behind a thread that slept",
				100*share, units.Lasting(d.Each), units.Lasting(d.Party.P99), units.Lasting(d.Party.P50))},
		{Side: suspect.For, Grade: suspect.Strong, Value: b.Ran / b.All, Unit: "share", Source: source.SchedstatOf(pid), Origin: "thread",
			Text: fmt.Sprintf("thread %d did %.0f %% of the work of its process and else waited for events, and no other thread of it slept in %s", tid, 100*b.Ran/b.All, call)},
	}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: no call of its event loop may wait (%s).", b.Process.Subject.Comm, call)}
	return f, true
}

func busyFinding(b *measure.BusiestThread, s *scene.Scene, r *recording.Recording, d ledger.Delay, share float64) suspect.Finding {
	pid := b.Process.Subject.PID
	f := suspect.Finding{Subject: b.Process.Subject, Active: d.Active, Related: []recording.Subject{d.Party.Subject},
		Next: fmt.Sprintf("snag profile --pid %d   # in which function", pid)}
	f.Text = fmt.Sprintf("its requests wait unread in the socket buffer while thread %d (%s) computes: %.2g at any moment", b.TID, b.Comm, d.Held*share)
	f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.Turns.And(source.ThreadState.As("states of its threads")), Origin: "turns",
		Text: fmt.Sprintf("%.0f %% of the delay of its answers (%s each, one in a hundred over %s, half of them under %s) was waiting in line behind computing",
			100*share, units.Lasting(d.Each), units.Lasting(d.Party.P99), units.Lasting(d.Party.P50))}}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: b.All / b.Span, Unit: "CPUs", Source: source.SchedstatOf(pid), Origin: "schedstat",
		Text: fmt.Sprintf("its process used %.2f CPUs on average", b.All/b.Span)}
	all, known := measure.CPUTimes(r, nil)
	if known {
		e.Text += fmt.Sprintf("; the CPUs were idle for %.0f %% of the time", 100*all.IdleShare())
	}
	if b.All <= oneCPU*b.Span && known && all.IdleShare() >= measure.BusyIdle {
		e.Grade = suspect.Strong
	}
	f.Evidence = append(f.Evidence, e)
	if wants := b.Ran + b.Waited; b.Ran >= alone*b.All && wants >= neverIdle*b.Span && b.Waited < measure.Starved*wants {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: b.Ran / b.Span, Unit: "share", Source: e.Source, Origin: "thread",
			Text: fmt.Sprintf("thread %d did %.0f %% of the work of its process, and had something to do for %.0f %% of the time", b.TID, 100*b.Ran/b.All, 100*wants/b.Span)})
	}
	if now, was, grown := d.Party.Grown(ledger.Work); grown && b.All <= oneCPU*b.Span {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: now, Unit: "s", Source: source.ThreadState.As("states of its threads").And(source.Of("the baseline")), Origin: "baseline",
			Text: fmt.Sprintf("a request computes for %s; in the baseline it did for %s", units.Lasting(now), units.Lasting(was))})
	}
	if b.All < leastCPU*b.Span {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: b.All / b.Span, Unit: "CPUs", Source: e.Source, Origin: "cpu time",
			Text: fmt.Sprintf("its process used %.2f CPUs: it does not compute", b.All/b.Span)})
	}
	if code := spinLoopsOf(b.Process, r); code != nil && code.share() >= spinShare {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: code.share(), Unit: "share", Source: source.Of("the machine code at the sampled addresses (perf annotate)"), Origin: "samples",
			Text: fmt.Sprintf("%.0f %% of its samples were in loops that only another thread can end: it waits for a lock (spin-lock)", 100*code.share())})
	}
	if measure.Collects(b.Comm) {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: b.Ran, Unit: "s", Source: e.Source, Origin: "thread's name",
			Text: fmt.Sprintf("thread %d (%s) is the collector's: it computes for the runtime, not for requests", b.TID, b.Comm)})
	}
	if b.Waited > measure.Starved*(b.Ran+b.Waited) {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: b.Waited, Unit: "s", Source: e.Source, Origin: "run delay",
			Text: fmt.Sprintf("thread %d waited %s for a CPU and ran for %s: it does not compute, it gets no CPU", b.TID, units.Lasting(b.Waited), units.Lasting(b.Ran))})
	}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: give the long task to another thread or process, or cut it into pieces between which others have their turn.", b.Process.Subject.Comm)}
	return f
}
