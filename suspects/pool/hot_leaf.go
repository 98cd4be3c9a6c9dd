package pool

import (
	"slices"
	"strings"
	"unicode"

	"snag/internal/sorting"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// hotLeaf is the function of a program in which most samples of one process ended.
type hotLeaf struct {
	function string
	caller   string  // the program's functions that called it; "" not known
	samples  float64 // that ended in it
	all      float64 // of the process, in the kernel too
	named    float64 // of all, those with a name for what ran
	threads  int     // that were seen in it
	together int     // seconds in which two threads or more were
	seconds  int     // in which the process was sampled
	cpu      float64 // s in it, by the rate of the samples
	spins    bool    // by its name, or by its code
}

// share of the samples of the process.
func (h *hotLeaf) share() float64 { return h.samples / max(h.all, 1) }

// hotLeaves are the functions of the program that a process' samples ended in, the
// most frequent first. Functions of the kernel are left out, and count in all.
func hotLeaves(p *scene.Process, r *recording.Recording) []*hotLeaf {
	stacks := map[int]*recording.Stack{}
	for i := range r.Stacks {
		stacks[r.Stacks[i].ID] = &r.Stacks[i]
	}
	type at struct {
		function string
		t        recording.Time
	}
	by := map[string]*hotLeaf{}
	threads := map[at]map[int]bool{}
	ever := map[string]map[int]bool{}
	best := map[string]float64{} // samples of the stack that the caller is from
	seconds := map[recording.Time]bool{}
	all, named := 0.0, 0.0
	for _, row := range r.Ran() {
		if row.PID != p.Subject.PID {
			continue
		}
		n := float64(row.N)
		all += n
		seconds[row.T] = true
		s := stacks[row.Stack]
		if s == nil || len(s.Frames) == 0 {
			continue
		}
		if s.Kernel != 0 {
			named += n
			continue
		}
		name := s.Frames[0]
		if name == "" || name[0] == '[' || strings.Contains(name, "+0x") { // of others' files "[OBJECT]"
			continue
		}
		named += n
		h := by[name]
		if h == nil {
			h = &hotLeaf{function: name}
			by[name], ever[name] = h, map[int]bool{}
		}
		h.samples += n
		if row.Hz > 0 {
			h.cpu += n / row.Hz
		}
		if own := callersOf(s); own != "" && n > best[name] {
			best[name], h.caller = n, own
		}
		if row.TID != 0 {
			ever[name][row.TID] = true
			k := at{name, row.T}
			if threads[k] == nil {
				threads[k] = map[int]bool{}
			}
			threads[k][row.TID] = true
		}
	}
	for k, tids := range threads {
		if len(tids) >= 2 {
			by[k.function].together++
		}
	}
	var out []*hotLeaf
	for name, h := range by {
		h.threads, h.all, h.named, h.seconds = len(ever[name]), all, named, len(seconds)
		out = append(out, h)
	}
	sorting.By(out, func(a, b *hotLeaf) int {
		switch {
		case a.samples > b.samples:
			return -1
		case a.samples < b.samples:
			return 1
		}
		return strings.Compare(a.function, b.function)
	})
	return out
}

// callersOf are the program's own functions below the leaf of a stack.
func callersOf(s *recording.Stack) string {
	without := *s
	without.Frames = s.Frames[1:]
	if len(s.Objects) > 0 {
		without.Objects = s.Objects[1:]
	}
	return measure.CalledBy(measure.OwnFrames(without))
}

// callersOffCPU are the program's functions that called a function, by the stacks of
// threads from which the CPU was taken in it: those are walked past functions without a
// frame of their own (docs/probes/offcpu.md).
func callersOffCPU(p *scene.Process, r *recording.Recording, function string) string {
	stacks := map[int]*recording.Stack{}
	for i := range r.Stacks {
		stacks[r.Stacks[i].ID] = &r.Stacks[i]
	}
	times := map[string]float64{}
	for _, row := range r.OffCPU {
		s := stacks[row.Stack]
		if row.PID != p.Subject.PID || s == nil || s.Kernel < 0 || s.Kernel >= len(s.Frames) || s.Frames[s.Kernel] != function {
			continue
		}
		user := recording.Stack{Frames: s.Frames[s.Kernel:]}
		if s.Kernel < len(s.Objects) {
			user.Objects = s.Objects[s.Kernel:]
		}
		if own := callersOf(&user); own != "" {
			times[own] += float64(row.N)
		}
	}
	own, _ := measure.Greatest(times)
	return own
}

// where is the function with who called it.
func (h *hotLeaf) where() string {
	if h.caller == "" {
		return h.function
	}
	return h.function + ", called by " + h.caller
}

// spinsBy tells a function that is known to wait in a loop for a lock. Other loops, one
// that computes among them, can't be told from a lock's by their name.
//
// glibc's pthread_spin_lock (nptl/pthread_spin_lock.c); Go's procyield, which its locks
// spin with (runtime/lock_futex.go); PostgreSQL's s_lock and InnoDB's ut_delay; HotSpot's
// SpinPause and TrySpin (share/runtime/objectMonitor.cpp).
func spinsBy(function string) bool {
	for _, known := range []string{"runtime.procyield", "runtime.procyieldAsm", "s_lock", "perform_spin_delay", "ut_delay", "SpinPause"} {
		if function == known {
			return true
		}
	}
	// A spin of physics or of a wheel has the word too: only with what one does to a lock.
	words := wordsOf(function)
	if slices.Contains(words, "unlock") {
		return false
	}
	for _, w := range words {
		switch w {
		case "spinlock", "spinwait", "spinmutex", "trylockspin":
			return true
		}
	}
	if !slices.Contains(words, "spin") {
		return false
	}
	for _, w := range words {
		switch w {
		case "lock", "trylock", "try", "mutex", "wait", "loop", "delay", "pause", "acquire", "backoff":
			return true
		}
	}
	return false
}

// wordsOf are the words of a function's name, in small letters: of spin_lock, spinLock,
// SpinLock and tbb::spin_mutex.
func wordsOf(name string) []string {
	var b strings.Builder
	small := false
	for _, c := range name {
		if small && unicode.IsUpper(c) {
			b.WriteByte(' ')
		}
		small = unicode.IsLower(c)
		if !unicode.IsLetter(c) {
			c = ' '
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return strings.Fields(b.String())
}
