package host

import (
	"snag/internal/cpus"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// asMuch of the CPU time that a process got is what it may want: it waited for the rest.
const asMuch = 2

// moveTo is a list of CPUs for a process that waits on the few that it is bound to; "" where
// its control group allows no others. The crowded ones are left out where the others have the
// time that it wants: a thread that may still run there goes on waiting there, as the scheduler
// keeps a thread on the CPU that it ran on last.
func moveTo(s *scene.Scene, r *recording.Recording, w cpuWait, n int) string {
	own, allowed := cpuSet(w.process.Last().CPUs), allowedTo(s, w.process, n)
	if own == nil || len(allowed) <= len(own) {
		return ""
	}
	var all, others []int
	set := map[int]bool{}
	for cpu := range allowed {
		all = append(all, cpu)
		if !own[cpu] {
			others, set[cpu] = append(others, cpu), true
		}
	}
	if free, ok := measure.CPUTimes(r, set); ok && len(others) > 0 && free.Idle >= asMuch*w.ran {
		return cpus.List(others)
	}
	return cpus.List(all)
}

// allowedTo are the CPUs that a process may be given of n: all in the root group, else those
// that another of its control group has. Its own affinity is what holds it, and can be widened.
func allowedTo(s *scene.Scene, p *scene.Process, n int) map[int]bool {
	group := p.Last().Cgroup
	out := map[int]bool{}
	for _, o := range s.Processes {
		if o.Last().Cgroup != group {
			continue
		}
		for cpu := range cpuSet(o.Last().CPUs) {
			out[cpu] = true
		}
	}
	if group == "/" && len(out) <= len(cpuSet(p.Last().CPUs)) {
		for cpu := range n {
			out[cpu] = true
		}
	}
	return out
}
