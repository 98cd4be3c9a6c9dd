package host

import (
	"fmt"
	"slices"
	"sort"

	"snag/recording"
	"snag/scene"
)

// rival is a process, or several that belong together, that used the CPUs.
type rival struct {
	processes []*scene.Process // the one that used most first
	used      float64          // s
}

// name is what a person would call it.
func (v rival) name() string {
	first := v.processes[0].Subject
	switch n := len(v.processes); n {
	case 1:
		return first.Name
	case 2:
		return first.Name + " and 1 more process named " + first.Comm
	default:
		return fmt.Sprintf("%s and %d more processes named %s", first.Name, n-1, first.Comm)
	}
}

// rivals are the processes that used CPU time in the window, with the children
// they waited for; those that are alike, of one program or script in one place, are one. Not snag's own.
// A child that has rows counts by itself, and its parent is not given the whole
// life of it when it ends.
func rivals(s *scene.Scene, r *recording.Recording) []rival {
	all := map[string]*rival{}
	used := map[*scene.Process]float64{}
	counted := map[int]float64{} // by parent
	for _, p := range s.Processes {
		counted[p.Last().PPID] += p.Last().CPU + p.Last().ChildrenCPU
	}
	for _, p := range s.Processes {
		a, b := p.First(), p.Last()
		n := b.CPU - a.CPU + reaped(a, b, counted[b.PID], r.Manifest.CPUs)
		if len(p.Rows) < 2 || n <= 0 || b.Self || b.PID == r.Manifest.SelfPID {
			continue
		}
		used[p] = n
		k := p.Alike()
		if all[k] == nil {
			all[k] = &rival{}
		}
		all[k].used += n
		all[k].processes = append(all[k].processes, p)
	}
	var out []rival
	for _, v := range all {
		sort.SliceStable(v.processes, func(i, j int) bool { return used[v.processes[i]] > used[v.processes[j]] })
		out = append(out, *v)
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].used != out[j].used {
			return out[i].used > out[j].used
		}
		return out[i].processes[0].Subject.PID < out[j].processes[0].Subject.PID
	})
	return out
}

// rivalOf is who used most of the CPUs besides a process, those left out that leave them to it;
// nil where nobody did.
func rivalOf(all []rival, p *scene.Process) *rival {
	for i := range all {
		if !all[i].has(p) && !all[i].gives(p) {
			return &all[i]
		}
	}
	return nil
}

// rivalWith is the one that a process is of; nil where it used nothing.
func rivalWith(all []rival, p *scene.Process) *rival {
	for i := range all {
		if all[i].has(p) {
			return &all[i]
		}
	}
	return nil
}

// leavesAll is the nice value from which a process gets a thirtieth of the weight of an ordinary one
// (sched_prio_to_weight, kernel/sched/core.c).
const leavesAll = 15

// leaves reports whether a process leaves the CPUs to whoever else wants them, and how.
func leaves(p recording.Process) (how string, ok bool) {
	switch {
	case p.Policy == "idle":
		return "its scheduling policy is SCHED_IDLE", true
	case p.Nice >= leavesAll:
		return fmt.Sprintf("its nice value is %d", p.Nice), true
	}
	return "", false
}

// gives reports whether they leave the CPUs to a process as soon as it wants one: by their policy or
// nice value, which count within one control group.
func (v rival) gives(p *scene.Process) bool {
	_, too := leaves(p.Last())
	return !too && !slices.ContainsFunc(v.processes, func(one *scene.Process) bool {
		_, ok := leaves(one.Last())
		return !ok || one.Last().Cgroup != p.Last().Cgroup
	})
}

// givenTo is the CPU time, s, of all that leave the CPUs to a process.
func givenTo(all []rival, p *scene.Process) (used float64) {
	for _, v := range all {
		if v.gives(p) {
			used += v.used
		}
	}
	return used
}

// reaped is the CPU time of children without rows of their own that ended between two
// rows. It is counted when they end, with all that they used before: more than there
// was in that time is not of it. Init reaps whom it did not start.
func reaped(a, b recording.Process, counted float64, cpus int) float64 {
	n := max(0, b.ChildrenCPU-a.ChildrenCPU-counted)
	if there := b.T.Sub(a.T).Seconds() * float64(max(cpus, 1)); b.PID == 1 || n > there {
		return 0
	}
	return n
}

// has reports whether a process is among them.
func (v rival) has(p *scene.Process) bool {
	for _, one := range v.processes {
		if one == p {
			return true
		}
	}
	return false
}

// share of an interval series: the growth of the first series of that name over
// the window's length.
func shareOfWindow(r *recording.Recording, name string, pairs ...string) (float64, bool) {
	for _, s := range r.Select(name, pairs...) {
		n, ok := s.Increase()
		if d := s.Points[len(s.Points)-1].T.Sub(s.Points[0].T).Seconds(); ok && d > 0 {
			return n / d, true
		}
	}
	return 0, false
}
