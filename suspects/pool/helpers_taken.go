package pool

import (
	"cmp"
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// allHelpers is the part of a service's helpers that are at work at a moment where there are too
// few of them: Squid with URL rewriters to spare has one in two free.
const allHelpers = 0.9

// helpersTaken tells of a service whose requests wait for the processes that it started to help
// it, all of which are at work: its own threads have nothing to do meanwhile.
func helpersTaken(p *pool, l *ledger.Ledger) (suspect.Finding, bool) {
	if l == nil {
		return suspect.Finding{}, false
	}
	for _, h := range l.Helpers {
		n := float64(len(h.PIDs))
		if !slices.ContainsFunc(h.Party.PIDs, func(pid int) bool { return p.worker(pid) != nil || p.head.Subject.PID == pid }) ||
			h.Busy < allHelpers*n || h.InLine < inLine*(h.Seconds+h.InLine) {
			continue
		}
		in := cmp.Or(h.Call, "computing")
		many := fmt.Sprintf("%s named %s", plural(len(h.PIDs), "process", "processes"), h.Comm)
		share := h.InLine / (h.Seconds + h.InLine)
		f := suspect.Finding{Subject: p.head.Subject, Related: append(p.related(), h.Party.Subject),
			Text: fmt.Sprintf("requests wait for its helpers, %s, all at work (%s)", many, in)}
		for _, pid := range h.PIDs {
			f.Related = append(f.Related, recording.Subject{Kind: recording.KindProcess, PID: pid, Comm: h.Comm, Netns: p.head.Subject.Netns})
		}
		f.Evidence = []suspect.Evidence{
			{Side: suspect.For, Grade: suspect.Strong, Value: h.Busy / n, Unit: "share", Source: source.ThreadState, Origin: "threads' calls",
				Text: fmt.Sprintf("%s, which it started: at work in %.0f %% of the samples, most of it in %s", many, 100*h.Busy/n, in)},
			{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.AllTurns, Origin: "turns",
				Text: fmt.Sprintf("its own threads worked for none of them: %.0f %% of the time of its requests stood in line before these", 100*share)},
		}
		if rate := h.Party.Rate; rate > 0 {
			each := h.InLine / max(h.Seconds, 1e-9) * n / rate
			f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: each, Unit: "s", Text: fmt.Sprintf("a request waits for %s until one of them is free", units.Lasting(each))}
		}
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("%s: more than %s in its configuration.", p.head.Subject.Comm, many), Program: fmt.Sprintf("%s: answer sooner, or several questions at once.", h.Comm)}
		f.Next = fmt.Sprintf("head /proc/%d/{wchan,syscall}   # what a helper does", h.PIDs[0])
		return f, true
	}
	return suspect.Finding{}, false
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
