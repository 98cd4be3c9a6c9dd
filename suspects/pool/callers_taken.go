package pool

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// callersTaken tells of a service whose few threads that call others are all in a call while its
// requests wait inside: another thread reads these at once and hands them over, so that nothing lies
// unread.
func callersTaken(p *pool, r *recording.Recording, window recording.Interval, l *ledger.Ledger) (suspect.Finding, bool) {
	if l == nil {
		return suspect.Finding{}, false
	}
	for _, c := range l.Taken {
		pid := c.Party.PIDs[0]
		share := l.InLine(pid, ledger.Call)
		if !slices.ContainsFunc(c.Party.PIDs, func(pid int) bool { return p.worker(pid) != nil || p.head.Subject.PID == pid }) || share < inLine {
			continue
		}
		slow := slices.ContainsFunc(dependenciesOf(p, r, window), func(d *dependency) bool { return d.remote == c.Address && !d.tolerable(r) })
		if slow { // more threads would wait there too
			continue
		}
		threads := units.Plural(c.Threads, "thread")
		f := suspect.Finding{Subject: p.head.Subject, Related: append(p.related(), c.Party.Subject), Active: c.Active,
			Text: fmt.Sprintf("requests wait for its %s that call %s: all are in a call", threads, c.Address)}
		if c.Threads == 1 {
			f.Text = fmt.Sprintf("requests wait for its one thread that calls %s, and is always in a call", c.Address)
		}
		f.Evidence = []suspect.Evidence{
			{Side: suspect.For, Grade: suspect.Strong, Value: c.Calls, Unit: "calls", Source: source.CallTurns.And(source.ThreadState), Origin: "calls",
				Text: fmt.Sprintf("calls to %s were made by %s, and as many were open at any moment (%.2g on average), while %.2g requests waited besides", c.Address, threads, c.Calls, c.Waiting)},
			{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.AllTurns.And(source.ThreadState), Origin: "ledger",
				Text: fmt.Sprintf("for %.0f %% of their time its requests had been read, and no thread worked on them", 100*share)},
		}
		if rate := c.Party.Rate; rate > 0 {
			f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: c.Waiting / rate, Unit: "s", Text: fmt.Sprintf("a request waits for %s until a thread takes it", units.Lasting(c.Waiting/rate))}
			f.Remedy.Permanently = fmt.Sprintf("%s: more worker threads than %d in its configuration. It answers %.2g per second now.", p.head.Subject.Comm, c.Threads, rate)
		}
		f.Remedy.Program = fmt.Sprintf("Handlers that do not hold a worker while they wait for %s.", c.Address)
		f.Next = fmt.Sprintf("eu-stack -p %d   # which handler waits", pid)
		return f, true
	}
	return suspect.Finding{}, false
}
