package pool

import (
	"fmt"
	"slices"
	"sort"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// poolWaits is where the threads of a pool were off the CPU, by the scheduler: in the
// handlers' calls, or waiting for work.
type poolWaits struct {
	threads    int     // that were blocked in a handler's call
	busy, free float64 // s, all of them together
	call       string  // what most of the busy time was in
	inCall     float64 // s of it
	function   string  // the program's functions that made that call; "" not known
}

// waitRows finds the waits of each process: a trace has some of hundreds.
type waitRows struct {
	of         map[int][]int // rows of Recording.OffCPU, by process
	conditions map[ledger.Word]bool
	sleeps     map[ledger.Word]bool
}

func waitRowsOf(r *recording.Recording) waitRows {
	w := waitRows{map[int][]int{}, map[ledger.Word]bool{}, ledger.SleepWords(r)}
	for i := range r.LockWaits {
		if row := &r.LockWaits[i]; row.Kind == "condition" {
			w.conditions[ledger.Word{PID: row.PID, Address: row.Address}] = true
		}
	}
	for i := range r.OffCPU { // large rows: none is copied
		w.of[r.OffCPU[i].PID] = append(w.of[r.OffCPU[i].PID], i)
	}
	return w
}

// poolWaitsOf adds up the waits of the threads that were blocked in a handler's call at
// all; nil where nobody watched, or none was.
func poolWaitsOf(all *pool, r *recording.Recording, waits waitRows) *poolWaits {
	var mine []int
	for _, p := range all.workers {
		mine = append(mine, waits.of[p.Subject.PID]...)
	}
	slices.Sort(mine)
	busy, free := map[int]float64{}, map[int]float64{}
	calls, stacks := map[string]float64{}, map[string]map[int]float64{}
	moved := map[int]map[int]bool{}
	for _, p := range all.workers {
		moved[p.Subject.PID] = moving(p)
	}
	for _, i := range mine {
		row := &r.OffCPU[i]
		p := all.worker(row.PID)
		if p == nil || row.TID == 0 || row.Reason == recording.WaitRunQueue || row.Reason == recording.WaitStopped || row.Call == "" {
			continue
		}
		if m := moved[row.PID]; len(m) > 0 && !m[row.TID] {
			continue
		}
		var k *scene.Socket
		if row.FD != nil {
			k = measure.SocketOn(p, *row.FD)
		}
		call, word := row.Call, ledger.Word{PID: row.PID, Address: row.Futex}
		sleeps := waits.sleeps[word]
		if sleeps {
			call = threadSleep
		}
		idle := !sleeps && (all.idleIn(row.Call) || row.Reason == recording.WaitPoll && !waitsOnFew[row.Call] || waits.conditions[word] || k != nil && k.TakesRequests())
		if idle {
			free[row.TID] += row.Sum
			continue
		}
		busy[row.TID] += row.Sum
		calls[call] += row.Sum
		if stacks[call] == nil {
			stacks[call] = map[int]float64{}
		}
		stacks[call][row.Stack] += row.Sum
	}
	if len(busy) == 0 {
		return nil
	}
	out := &poolWaits{threads: len(busy)}
	for tid, sum := range busy {
		out.busy += sum
		out.free += free[tid]
	}
	out.call, out.inCall = measure.Greatest(calls)
	out.function = measure.OwnFunctions(r, heaviest(stacks[out.call]))
	return out
}

// threadSleep is a JVM's wait for a time to pass: /proc shows the call of a thread that waits for work.
const threadSleep = "Thread.sleep (futex)"

// heaviest is the stack with a name that most of the time was in; 0 none.
func heaviest(by map[int]float64) int {
	ids := make([]int, 0, len(by))
	for id := range by {
		if id != 0 {
			ids = append(ids, id)
		}
	}
	sort.Slice(ids, func(i, j int) bool {
		if by[ids[i]] != by[ids[j]] {
			return by[ids[i]] > by[ids[j]]
		}
		return ids[i] < ids[j]
	})
	if len(ids) == 0 {
		return 0
	}
	return ids[0]
}

// share of the time off the CPU that was not spent waiting for work.
func (w *poolWaits) share() float64 { return w.busy / max(w.busy+w.free, 1e-9) }

// evidence is what that says for the queue. The looks at the threads' calls see the same.
func (w *poolWaits) evidence() suspect.Evidence {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: w.share(), Unit: "share", Source: source.LocksOf, Origin: "threads' calls",
		Text: fmt.Sprintf("of %s that %s were off the CPU, %s were in calls of the handlers: %s in %s",
			units.Lasting(w.busy+w.free), units.Plural(w.threads, "thread"), units.Lasting(w.busy), units.Lasting(w.inCall), w.where())}
	switch {
	case w.share() >= 0.6 && w.busy >= 1: // as for the looks: most of the time, and not a moment's
		e.Grade = suspect.Strong
	case w.share() < 0.3:
		e.Side, e.Grade = suspect.Against, suspect.Strong
		e.Text = fmt.Sprintf("of %s that %s were off the CPU, they waited for work for %s", units.Lasting(w.busy+w.free), units.Plural(w.threads, "thread"), units.Lasting(w.free))
	}
	return e
}

// where is the call, and who made it.
func (w *poolWaits) where() string {
	if w.function == "" {
		return w.call
	}
	return w.call + ", called by " + w.function
}
