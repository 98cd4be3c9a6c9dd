package oncpu

import (
	"cmp"

	"snag/internal/sorting"
	"snag/probes/symbols"
	"snag/recording"
)

// Bounds of what is kept until it is written.
const (
	mostStacks = 20000  // different ones
	mostRows   = 100000 // seconds × threads × stacks
	// manyStacks are kept where it samples for days, with what their processes had mapped: those that a
	// flush did not see are forgotten beyond it. A stack that comes again is read again.
	manyStacks = 2000
)

// stack is one stack while it is known.
type stack struct {
	kind
	kernel, user []uint64
	image        *symbols.Image // what the process ran
	content      kind           // its process and a hash of its addresses
	walked
	recent   uint64 // samples since the last flush
	id       int    // in the table of stacks
	named    bool   // it has been named, and id is it (0: no room)
	function string // the kernel function that ran; "" none
	caller   string
	quality  quality
	looked   bool      // its code has been read for loops
	loop     *codeLoop // what it is in; nil: it could not be read
}

// quality says how well stacks were walked and named; the numbers are weighed by
// samples.
type quality struct {
	samples, frames, named, cut float64
	// unnamedIn and cutIn count by object.
	unnamedIn, cutIn map[string]float64
}

func (q *quality) add(o quality, weight float64) {
	q.samples += weight * o.samples
	q.frames += weight * o.frames
	q.named += weight * o.named
	q.cut += weight * o.cut
	for object, n := range o.unnamedIn {
		if q.unnamedIn == nil {
			q.unnamedIn = map[string]float64{}
		}
		q.unnamedIn[object] += weight * n
	}
	for object, n := range o.cutIn {
		if q.cutIn == nil {
			q.cutIn = map[string]float64{}
		}
		q.cutIn[object] += weight * n
	}
}

// sampled is a count of one second.
type sampled struct {
	t     recording.Time
	tid   int
	pid   int
	comm  string
	stack *stack // nil: it could not be taken, or was lost
	n     uint64
}

// tally keeps counts and stacks until they are written.
type tally struct {
	// stacks are by what the kernel tells them apart by: some of them turn out to be
	// the same once they are walked. same are all of them, each once.
	stacks map[kind]*stack
	same   map[kind]*stack
	rows   []sampled
	left   uint64 // samples beyond the bound
	many   int    // stacks that are kept though a flush did not see them
}

// newTally returns a tally for one recording, or for days.
func newTally(continuous bool) *tally {
	t := &tally{stacks: map[kind]*stack{}, same: map[kind]*stack{}, many: mostStacks / 2}
	if continuous {
		t.many = manyStacks
	}
	return t
}

// take keeps a stack that the kernel handed over; false: there is no room.
func (t *tally) take(s taken, image *symbols.Image) bool {
	if t.stacks[s.kind] != nil {
		return true
	}
	if len(t.stacks) >= mostStacks {
		return false
	}
	content := kind{s.pid, hashOf(s.kernel, s.user)}
	if t.same[content] == nil {
		t.same[content] = &stack{kind: s.kind, kernel: s.kernel, user: s.user, image: image, content: content, walked: s.walked}
	}
	t.stacks[s.kind] = t.same[content]
	return true
}

// full reports that there is little room left.
func (t *tally) full() bool { return len(t.rows) > mostRows/2 || len(t.stacks) > mostStacks/2 }

// count adds what was counted in the second that began at at.
func (t *tally) count(at recording.Time, entries []counted) {
	for _, e := range entries {
		if len(t.rows) >= mostRows {
			t.left += e.n
			continue
		}
		s := t.stacks[e.kind]
		if s != nil {
			s.recent += e.n
		}
		t.rows = append(t.rows, sampled{t: at, tid: e.tid, pid: e.pid, comm: e.comm, stack: s, n: e.n})
	}
}

// heaviest are the stacks without a name that were seen most since the last
// flush, most of them at most and seen at least times.
func (t *tally) heaviest(most int, least uint64) []*stack {
	var out []*stack
	for _, s := range t.same {
		if !s.named && s.recent >= least {
			out = append(out, s)
		}
	}
	sorting.By(out, func(a, b *stack) int {
		return cmp.Or(cmp.Compare(b.recent, a.recent), cmp.Compare(a.pid, b.pid), cmp.Compare(a.hash, b.hash))
	})
	return out[:min(len(out), most)]
}

// threadsEach threads of a process have rows of their own where only the heaviest
// stacks are kept; those of more are taken together.
const threadsEach = 32

// flush gives the rows so far and forgets them. whole: each thread has its own
// rows; else those of stacks without a name are put together by process, and so are
// the threads of a process that has very many.
func (t *tally) flush(hz float64, whole bool) []recording.OnCPU {
	crowded := map[int]bool{}
	if !whole {
		threads := map[int]map[int]bool{}
		for _, r := range t.rows {
			if threads[r.pid] == nil {
				threads[r.pid] = map[int]bool{}
			}
			threads[r.pid][r.tid] = true
			crowded[r.pid] = len(threads[r.pid]) > threadsEach
		}
	}
	type key struct {
		t               recording.Time
		pid, tid, stack int
	}
	at := map[key]int{}
	var out []recording.OnCPU
	for _, r := range t.rows {
		k := key{t: r.t, pid: r.pid, tid: r.tid}
		if r.stack != nil && r.stack.named {
			k.stack = r.stack.id
		}
		if crowded[r.pid] || !whole && k.stack == 0 {
			k.tid = 0
		}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, recording.OnCPU{T: r.t, PID: r.pid, TID: k.tid, Comm: r.comm, Stack: k.stack, Hz: hz})
		}
		if k.tid == 0 && r.tid == r.pid { // the process' own name is that of its first thread
			out[i].Comm = r.comm
		}
		out[i].N += r.n
	}
	t.rows = t.rows[:0]
	return out
}

// settle ends a flush: counts begin again, and stacks that were not seen in it are
// forgotten once there are many. It returns those.
func (t *tally) settle() []kind {
	var gone []kind
	for k, s := range t.stacks {
		if s.recent == 0 && len(t.stacks) > t.many {
			gone = append(gone, k)
			delete(t.stacks, k)
			delete(t.same, s.content)
		}
	}
	for _, s := range t.same {
		s.recent = 0
	}
	return gone
}

// profileEach functions of the kernel have a row of their own in a second.
const profileEach = 20

// profile counts the kernel functions that ran in the second that began at at, of
// all samples.
func profile(at recording.Time, entries []counted, stackOf func(kind) *stack, all uint64, hz float64) []recording.ProfileRow {
	type key struct {
		function, caller string
		pid              int
	}
	index := map[key]int{}
	var rows []recording.ProfileRow
	for _, e := range entries {
		s := stackOf(e.kind)
		if s == nil || s.function == "" {
			continue
		}
		k := key{s.function, s.caller, e.pid}
		i, ok := index[k]
		if !ok {
			i = len(rows)
			index[k] = i
			rows = append(rows, recording.ProfileRow{T: at, Function: s.function, Caller: s.caller, PID: e.pid, Comm: e.comm, All: all, Hz: hz})
		}
		rows[i].Samples += e.n
	}
	sorting.StableBy(rows, func(a, b recording.ProfileRow) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Function, b.Function), cmp.Compare(a.PID, b.PID))
	})
	// A second in which the kernel never ran has a row as well: it tells of how many
	// samples.
	if len(rows) > profileEach || len(rows) == 0 && all > 0 {
		others := recording.ProfileRow{T: at, Function: "others", All: all, Hz: hz}
		for _, r := range rows[min(len(rows), profileEach):] {
			others.Samples += r.Samples
		}
		rows = append(rows[:min(len(rows), profileEach)], others)
	}
	return rows
}
