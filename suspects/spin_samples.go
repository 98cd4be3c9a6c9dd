package suspects

import (
	"fmt"
	"sort"
	"strings"

	"snag/recording"
)

// hottest is the function of a program that most of its samples on a CPU were in.
type hottest struct {
	function string
	n, all   uint64 // samples in it, with no kernel below; and in all
	threads  int    // that were seen in it; 0: which they were is not known
}

func (h hottest) share() float64 { return float64(h.n) / float64(h.all) }

// fewSamples of a process tell nothing of its shares.
const fewSamples = 100

// hottestOf finds it in the samples of a process: the innermost function, in user
// space. False where there are too few samples, or their stacks are not known.
func hottestOf(rows []recording.OnCPU, stacks []recording.Stack, pid int) (hottest, bool) {
	innermost := map[int]string{}
	for _, s := range stacks {
		if s.Kernel == 0 && len(s.Frames) > 0 && !strings.Contains(s.Frames[0], "+0x") {
			innermost[s.ID] = s.Frames[0]
		}
	}
	n, threads := map[string]uint64{}, map[string]map[int]bool{}
	h := hottest{}
	for _, row := range rows {
		if row.PID != pid {
			continue
		}
		h.all += row.N
		if f := innermost[row.Stack]; f != "" {
			n[f] += row.N
			if threads[f] == nil {
				threads[f] = map[int]bool{}
			}
			threads[f][row.TID] = true
		}
	}
	names := make([]string, 0, len(n))
	for f := range n {
		names = append(names, f)
	}
	sort.Strings(names)
	for _, f := range names {
		if n[f] > h.n {
			h.function, h.n, h.threads = f, n[f], len(threads[f])
			if threads[f][0] { // samples of several threads, taken together
				h.threads = 0
			}
		}
	}
	return h, h.all >= fewSamples && h.n > 0
}

const (
	// spinShare of the samples in a function that spins: K found 59 % of a sick program
	// in one; a lock that is taken now and then has under a hundredth.
	spinShare = 0.3
	// oneFunction of the samples in one function of any other name is what programs that
	// compute have as well.
	oneFunction = 0.5
)

// spins tells a function whose name says that it waits in a loop: pthread_spin_lock,
// rte_spinlock_lock, ngx_spinlock, SpinPause, std::sync::SpinLock.
func spins(function string) bool { return strings.Contains(strings.ToLower(function), "spin") }

// sampled is what the samples say of threads that are always busy; false where there
// are none.
func (sp spinners) sampled(r *recording.Recording, pid int) (Evidence, bool) {
	h, ok := hottestOf(r.OnCPU, r.Stacks, pid)
	if !ok || h.share() < spinShare || !spins(h.function) && h.share() < oneFunction {
		return Evidence{}, false
	}
	threads := h.threads
	if threads == 0 {
		threads = sp.threads
	}
	e := Evidence{Side: For, Grade: Weak, Value: h.share(), Unit: "share", Source: "samples on the CPU (oncpu)", Origin: "samples",
		Text: fmt.Sprintf("%s of its %s samples on a CPU were in %s, of %s", count(float64(h.n)), count(float64(h.all)), h.function, plural(threads, "thread"))}
	switch {
	case spins(h.function) && threads >= fewSpinners:
		e.Grade = Strong
	case !spins(h.function):
		e.Doubt = "a loop that computes is such a function as well"
	}
	return e, true
}
