package pool

import (
	"fmt"

	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// fewThreads of a process can queue for something inside of it.
const fewThreads = 4

// unlooked is a process of many threads at which something waits and whose threads'
// calls were not read: what they wait for can't be told, and is not cleared.
func unlooked(p *scene.Process, s *scene.Scene, r *recording.Recording, what string) (suspect.Finding, bool) {
	for _, t := range p.Threads {
		for _, row := range t.Rows {
			if row.Syscall != "" {
				return suspect.Finding{}, false
			}
		}
	}
	sym, ok := latencyOf(s, p.Subject.PID)
	if !ok || p.Last().Threads < fewThreads {
		return suspect.Finding{}, false
	}
	pid := p.Subject.PID
	c, _ := r.Measured("threads.syscall")
	why := "its threads' calls were not read"
	if c.Why != "" {
		why += ": " + c.Why
	}
	return suspect.Finding{Subject: p.Subject, Text: fmt.Sprintf("%s can't be judged of %s: its threads were not looked at", what, p.Subject.Name),
		Evidence: []suspect.Evidence{
			{Side: suspect.For, Grade: suspect.Strong, Source: source.Of(sym.Name, source.TurnTimes, source.FailedConnect), Origin: "symptom", Text: fmt.Sprintf("%s; it has %d threads", sym.Text, p.Last().Threads)},
			{Side: suspect.Missing, Source: source.Calls.As("threads.syscall"), Text: why},
		},
		Next: fmt.Sprintf("sudo snag find --pid %d   # or: head /proc/%d/task/*/{wchan,syscall}", pid, pid)}, true
}

// latencyOf is a symptom of a process, or of one of its listeners, that somebody
// waits for it.
func latencyOf(s *scene.Scene, pid int) (scene.Symptom, bool) {
	for _, sym := range s.Symptoms {
		switch sym.Name {
		case scene.RequestLatency, scene.ConnectLatency, scene.StreamFreeze, scene.ThroughputPlateau:
			if sym.Subject.PID == pid {
				return sym, true
			}
		}
	}
	return scene.Symptom{}, false
}
