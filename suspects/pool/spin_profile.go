package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// spinShare of its samples in one function: two threads at one lock, of which one
// always waits, are there for half of their time at most.
const spinShare = 0.4

// jammedShare: three of four busy threads wait. Then the lock is what the process
// waits for, however many CPUs there are.
const jammedShare = 0.75

// spreadShare: less than this in the first function is no loop.
const spreadShare = 0.2

// sleepsInstead is the share of the time that threads which spin can't sleep for locks.
const sleepsInstead = 0.1

// profiled is what the samples of the CPUs say: the function that spins or, where none
// is known to, the most frequent one; nil where there are too few samples.
func (sp spinners) profiled(p *scene.Process, r *recording.Recording) (*hotLeaf, []suspect.Evidence) {
	code := spinLoopsOf(p, r)
	h := spinning(hotLeaves(p, r), code)
	if h == nil || h.all < measure.FewSamples {
		return nil, nil
	}
	if h.caller == "" {
		h.caller = callersOffCPU(p, r, h.function)
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: h.share(), Unit: "share", Source: source.Stat.As(fmt.Sprintf("perf record -p %d (snag: oncpu)", p.Subject.PID)), Origin: "samples",
		Text: fmt.Sprintf("%s of %s samples of it (%.0f %%) were in %s, of %s; two or more at once in %d of %s seconds",
			units.Count(h.samples), units.Count(h.all), 100*h.share(), h.where(), units.Plural(h.threads, "thread"), h.together, units.Count(float64(h.seconds)))}
	if h.named < 0.9*h.all {
		e.Doubt = fmt.Sprintf("%.0f %% of its samples have no name", 100*(1-h.named/h.all))
	}
	// Samples are 10 ms apart: with few CPUs for it, a second may well miss the second thread.
	several := h.threads >= fewSpinners && 2*h.together >= h.seconds
	crowd := sp.threads > r.Manifest.CPUs && h.share() >= spinShare || h.share() >= jammedShare
	known := spinsBy(h.function)
	switch {
	case known && several && crowd:
		e.Grade = suspect.Strong
	case h.spins && several && !crowd:
		e.Text += fmt.Sprintf("; its %d threads have a CPU each, so that they take none from the holder", sp.threads)
	case !h.spins && h.share() < spreadShare && h.named >= 0.9*h.all:
		e.Side, e.Grade = suspect.Against, suspect.Strong
		e.Text = fmt.Sprintf("its samples are spread over many functions (the first, %s, has %.0f %% of %s), and none is known to spin", h.function, 100*h.share(), units.Count(h.all))
	case !h.spins && code == nil:
		e.Text += ": a loop for a lock, or one that computes"
	}
	out := []suspect.Evidence{e}
	if code != nil {
		if said, ok := code.evidence(sp, r.Manifest.CPUs, known); ok {
			out = append(out, said)
		}
	}
	return h, out
}

// spinning is the function that spins, by its name or by its code; the most frequent one
// where none does; nil where none is known.
func spinning(leaves []*hotLeaf, code *spinLoops) *hotLeaf {
	for _, l := range leaves {
		if spinsBy(l.function) && l.share() >= spreadShare {
			l.spins = true
			return l
		}
	}
	if code != nil {
		if name, share := code.function(); share >= spreadShare {
			for _, l := range leaves {
				if l.function == name {
					l.spins = true
					return l
				}
			}
			return code.leaf(name) // it has no name: a stripped program
		}
	}
	if len(leaves) == 0 {
		return nil
	}
	return leaves[0]
}

// sleptForLocks is what the closer look says of locks that sleep.
func sleptForLocks(p *scene.Process, sp spinners, r *recording.Recording) []suspect.Evidence {
	looked, n, sum := false, uint64(0), 0.0
	for _, row := range r.LockWaits {
		if row.PID == p.Subject.PID {
			looked = true
			if row.Kind == "mutex" {
				n += row.N
				sum += row.Sum
			}
		}
	}
	for _, row := range r.OffCPU {
		looked = looked || row.PID == p.Subject.PID
	}
	if !looked {
		return nil
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: sum, Unit: "s", Source: source.LocksOf, Origin: "futex",
		Text: fmt.Sprintf("its threads slept for a lock for %s in all (%s times)", units.Lasting(sum), units.Count(float64(n)))}
	if sum >= sleepsInstead*(sp.ran+sp.delayed) {
		e.Side, e.Grade = suspect.Against, suspect.Strong
		e.Text += ": its locks do not spin for long"
	} else if n == 0 {
		e.Text = "none of its threads slept for a lock while each of their waits was counted"
	}
	return []suspect.Evidence{e}
}

// name puts the function that spins into what is said.
func (sp spinners) name(f *suspect.Finding, h *hotLeaf, late bool, s *scene.Scene, r *recording.Recording) {
	if f.Harm.Symptom == "" {
		f.Text = fmt.Sprintf("%d threads spin for a lock: %.0f %% of its samples are in %s", sp.threads, 100*h.share(), h.where())
		if late {
			seconds := max(s.Window.Length(s.Window.End).Seconds(), 1)
			f.Harm = suspect.Harm{Symptom: scene.CPUBurn, Amount: h.cpu / seconds, Of: float64(r.Manifest.CPUs), Unit: "cores", Text: fmt.Sprintf("%s of CPU time were spent in %s", units.Lasting(h.cpu), h.function)}
		}
	} else {
		f.Text += fmt.Sprintf(", in %s (%.0f %% of its samples)", h.where(), 100*h.share())
	}
	in := f.Subject.Comm
	if h.caller != "" {
		in += ", in " + h.caller
	}
	f.Remedy = sleepInstead(in, h.function, r)
}

// sleepInstead is what helps threads that spin.
func sleepInstead(in, loop string, r *recording.Recording) suspect.Remedy {
	return suspect.Remedy{Permanently: fmt.Sprintf("No more than %s in its configuration.", units.Plural(max(r.Manifest.CPUs, 1), "thread")), Program: fmt.Sprintf("%s: a mutex that sleeps, or a back-off, instead of %s.", in, loop)}
}

// heavier is what else would make less work of the same CPU time.
func heavier(h *hotLeaf) string {
	if h != nil && spinsBy(h.function) && h.share() >= spinShare {
		return ""
	}
	return "requests that became heavier would do that too: see a profile"
}
