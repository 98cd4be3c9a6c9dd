package pool

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// workers is what the threads of a process were doing while requests waited.
type workers struct {
	looks   int            // looks at its threads
	taken   int            // of them, with no thread that waits for work
	threads int            // most in a look, without those that never moved
	doing   map[string]int // what they were asleep in, by looks and threads
	running int            // thread looks on a CPU or in line for one
	seen    int            // thread looks
	peers   map[string]int // of those asleep on a descriptor: whom they waited for
	noun    string         // what a worker is: a thread, or a process
}

// workersOf looks at the threads of a pool throughout.
// A thread that waits on its client's socket waits for work; one in futex without a
// lock waits to be told.
func workersOf(all *pool) workers {
	w := workers{doing: map[string]int{}, peers: map[string]int{}, noun: "working thread"}
	moved := map[int]bool{}
	for _, p := range all.workers {
		maps.Copy(moved, moving(p))
	}
	if all.forked() {
		w.noun = "worker"
	}
	if all.jammed() {
		leaveOutLoops(all, moved)
	}
	for _, l := range all.looks() {
		free, here := 0, 0
		for _, row := range l.Rows {
			if row.Syscall == "" || !moved[row.TID] {
				continue
			}
			here++
			w.seen++
			k := measure.SocketAt(all.worker(row.PID), row)
			switch {
			case row.State == "R" || row.Syscall == "running":
				w.running++
			case all.idleIn(row.Syscall), row.Syscall == "futex" && !row.Lock, k != nil && k.TakesRequests():
				free++
			default:
				text := row.Syscall
				if k != nil {
					text += " on " + cmp.Or(k.First().Remote, k.First().Local)
					w.peers[cmp.Or(k.First().Remote, k.First().Local)]++
				}
				w.doing[text]++
			}
		}
		if here == 0 {
			continue
		}
		w.looks++
		w.threads = max(w.threads, here)
		if free == 0 {
			w.taken++
		}
	}
	return w
}

// leaveOutLoops takes the threads that wait for events only from those of a pool, where others
// are beside them: they hand connections on, as Apache's listener does, and while none is
// accepted the others have no room for one.
func leaveOutLoops(all *pool, moved map[int]bool) {
	var loops []int
	for _, p := range all.workers {
		for _, t := range p.Threads {
			worked := slices.ContainsFunc(t.Rows, func(row recording.Thread) bool {
				return row.Syscall != "" && row.Syscall != "running" && row.State != "R" && !strings.HasPrefix(row.Syscall, "epoll_")
			})
			if moved[t.Subject.TID] && !worked {
				loops = append(loops, t.Subject.TID)
			}
		}
	}
	if len(loops) == len(moved) {
		return
	}
	for _, tid := range loops {
		delete(moved, tid)
	}
}

// moving are the threads that were on a CPU in the time: one that never was (a
// timer's, a signal's, a main thread that only waits) is no worker.
func moving(p *scene.Process) map[int]bool {
	out := map[int]bool{}
	for _, t := range p.Threads {
		first, last := t.Rows[0], t.Rows[len(t.Rows)-1]
		if len(t.Rows) == 1 || last.OnCPU > first.OnCPU || last.Voluntary > first.Voluntary || last.Involuntary > first.Involuntary {
			out[t.Subject.TID] = true
		}
	}
	return out
}

// most is what they were asleep in most often.
func (w workers) most() string {
	var all []string
	for text := range w.doing {
		all = append(all, text)
	}
	sort.Slice(all, func(i, j int) bool {
		if w.doing[all[i]] != w.doing[all[j]] {
			return w.doing[all[i]] > w.doing[all[j]]
		}
		return all[i] < all[j]
	})
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// sleepers are the threads that slept in calls at a look, on average.
func (w workers) sleepers() float64 {
	n := 0
	for _, k := range w.doing {
		n += k
	}
	return float64(n) / float64(max(w.looks, 1))
}

// asleep is the share of thread looks that were neither on a CPU nor free.
func (w workers) asleep() float64 {
	return w.sleepers() * float64(w.looks) / float64(max(w.seen, 1))
}

// evidence is what the threads' calls say for the queue.
func (w workers) evidence(all *pool) (suspect.Evidence, bool) {
	if w.looks == 0 {
		return suspect.Evidence{}, false
	}
	looks, share := measure.ShareOf(w.taken, w.looks)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: share, Unit: "share", Source: all.source(), Origin: "threads' calls"}
	threads := units.Plural(w.threads, w.noun)
	switch {
	case w.taken >= 3 && share >= 0.6 && w.asleep() >= 0.5:
		e.Grade = suspect.Strong
		e.Text = fmt.Sprintf("in %s samples none of its %s was free for a request: they were asleep in %s", looks, threads, w.most())
	case float64(w.running) >= 0.6*float64(w.seen):
		e.Side, e.Grade = suspect.Against, suspect.Strong
		e.Text = fmt.Sprintf("its %s were on a CPU, or in line for one, in %.0f %% of the samples: it computes", threads, 100*float64(w.running)/float64(w.seen))
	case share < 0.3:
		e.Side, e.Grade = suspect.Against, suspect.Strong
		e.Text = fmt.Sprintf("in %d of %d samples a thread of it was free for the next request", w.looks-w.taken, w.looks)
	default:
		e.Text = fmt.Sprintf("in %s samples none of its %s was free for a request", looks, threads)
	}
	return e, true
}
