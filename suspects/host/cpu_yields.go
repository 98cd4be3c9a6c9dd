package host

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/suspect"
)

const (
	leastYield = 0.1 // of the rival's CPU time that a process used itself, to be named in a command
	mostYield  = 0.8 // that those named used together: else the command would take too little away
)

// yields is how one leaves CPU time to a process that waits for it. There is a command
// only where it takes nothing from the one that waits, nor from who asks the other.
func (v rival) yields(s *scene.Scene, r *recording.Recording, waits *scene.Process) suspect.Remedy {
	first, victim := v.processes[0], waits.Last()
	out := suspect.Remedy{Permanently: "CPUWeight=20 or Nice=19 in its unit, or more CPUs.", Program: fmt.Sprintf("%s: fewer busy threads.", first.Subject.Comm)}
	unit := remedy.ManagedUnit(first)
	if unit != "" && unit != victim.Unit {
		out.Permanently = fmt.Sprintf("CPUWeight=20 in %s (systemctl edit %s), or more CPUs.", unit, unit)
	}
	for _, p := range v.processes {
		if servesOrSuffers(s, r, p) || partners(s, r, p, waits) {
			return out
		}
	}
	switch group := first.Last().Cgroup; {
	case group == victim.Cgroup: // a thread's nice value counts within its control group
		var pids []string
		used := 0.0
		for _, p := range v.processes { // not those whose children computed, which keep their value
			if own := p.Last().CPU - p.First().CPU; remedy.Lasts(r, p) && own >= leastYield*v.used {
				pids, used = append(pids, strconv.Itoa(p.Subject.PID)), used+own
			}
		}
		if used >= mostYield*v.used { // renice by itself takes the first thread of a process only
			out.Now = fmt.Sprintf("renice -n 19 -p $(ps -o lwp= -L -p %s)", strings.Join(pids, ","))
		}
	case unit != "" && path.Base(group) == unit && within(victim.Cgroup, path.Dir(group)) && !within(victim.Cgroup, group):
		out.Now = remedy.UnitNow(first, "CPUWeight", "20") // a weight counts among those that stand beside it
	}
	return out
}

// within reports whether a control group is another, or inside of it.
func within(group, other string) bool {
	return group == other || strings.HasPrefix(group, strings.TrimSuffix(other, "/")+"/")
}

// servesOrSuffers reports whether somebody waits for a process: for its answers, or since it
// is late itself.
func servesOrSuffers(s *scene.Scene, r *recording.Recording, p *scene.Process) bool {
	return lateness(s, p) != nil || measure.Suffers(s, p.Subject.PID) || measure.TurnsOf(r, p.Subject.PID, "serve", "", []recording.Interval{s.Window}).N > 0
}

// partners reports whether one of two processes asks, feeds or began the other: who slows
// the one slows the other.
func partners(s *scene.Scene, r *recording.Recording, a, b *scene.Process) bool {
	if a.Last().PPID == b.Subject.PID || b.Last().PPID == a.Subject.PID {
		return true
	}
	for _, k := range a.Sockets {
		if k.Peer != nil && slices.Contains(k.Peer.Owners, b) {
			return true
		}
	}
	return slices.ContainsFunc(r.Turns, func(t recording.Turns) bool {
		if t.Role != "call" || t.PID != a.Subject.PID && t.PID != b.Subject.PID {
			return false
		}
		to := s.Callee(t)
		return to != nil && (slices.Contains(to.Owners, a) || slices.Contains(to.Owners, b))
	})
}
