package oncpu

import (
	"cmp"
	"fmt"
	"runtime"

	"snag/internal/loops"
	"snag/internal/sorting"
	"snag/recording"
)

// Bounds of what is looked at in one flush.
const (
	// loopThreads and loopSamples: one thread alone waits for nobody in its process, and
	// of fewer samples no share can be told.
	loopThreads = 2
	loopSamples = 20
	mostLooked  = 400 // stacks, the heaviest first: some 20 µs each
	loopsEach   = 8   // loops of a process and second that have a row
)

// codeLoop is what the code is that a stack's innermost instruction lies in.
type codeLoop struct {
	kind     loops.Kind
	function string
	object   string
	address  uint64
	bytes    int
	text     string
}

// lookForLoops writes, of the samples since the last flush, which were in loops that
// wait. It has to come before the stacks are named, which drops their addresses.
func (r *running) lookForLoops() {
	if runtime.GOARCH != "amd64" {
		return
	}
	several := severalAtOnce(r.tally.rows)
	r.readLoops(several)
	for _, row := range loopRows(r.tally.rows, several) {
		r.env.Sink.Append(row)
	}
}

// severalAtOnce are the processes of which several threads ran.
func severalAtOnce(rows []sampled) map[int]bool {
	threads, samples := map[int]map[int]bool{}, map[int]uint64{}
	for _, row := range rows {
		if threads[row.pid] == nil {
			threads[row.pid] = map[int]bool{}
		}
		threads[row.pid][row.tid] = true
		samples[row.pid] += row.n
	}
	out := map[int]bool{}
	for pid, tids := range threads {
		out[pid] = len(tids) >= loopThreads && samples[pid] >= loopSamples
	}
	return out
}

// readLoops reads the code of the stacks that were not looked at before.
func (r *running) readLoops(of map[int]bool) {
	var todo []*stack
	for _, s := range r.tally.same {
		if of[s.pid] && !s.looked && s.recent > 0 && s.image != nil && len(s.kernel) == 0 && len(s.user) > 0 {
			todo = append(todo, s)
		}
	}
	sorting.By(todo, func(a, b *stack) int {
		return cmp.Or(cmp.Compare(b.recent, a.recent), cmp.Compare(a.hash, b.hash))
	})
	for _, s := range todo[:min(len(todo), mostLooked)] {
		s.looked = true
		code, ok := r.names.CodeAround(s.image, s.user[0], loops.Reach, 2*loops.Reach)
		if !ok {
			continue
		}
		s.loop = &codeLoop{}
		l, ok := loops.Around(code.Bytes, code.At)
		switch {
		case (!ok || l.Kind == loops.Works && l.Calls) && loops.Touches(code.Bytes, code.At):
			*s.loop = codeLoop{kind: loops.Tries}
		case ok && l.Kind != loops.Works:
			*s.loop = codeLoop{
				kind: l.Kind, object: code.Object, address: code.Start + uint64(l.Start), bytes: l.End - l.Start, text: l.Text,
				function: r.names.In(s.image, s.user[:1])[0].Function,
			}
		}
	}
}

// loopRows counts the samples by second and loop.
func loopRows(rows []sampled, of map[int]bool) []recording.Loop {
	type key struct {
		t       recording.Time
		pid     int
		object  string
		address uint64
	}
	index, threads := map[key]int{}, map[key]map[int]bool{}
	var out []recording.Loop
	for _, row := range rows {
		if !of[row.pid] || row.stack == nil || row.stack.loop == nil {
			continue
		}
		l := row.stack.loop
		k := key{row.t, row.pid, l.object, l.address}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k], threads[k] = i, map[int]bool{}
			out = append(out, recording.Loop{
				T: row.t, PID: row.pid, Comm: row.comm, Kind: string(l.kind), Function: l.function, Object: l.object,
				Address: l.address, Bytes: l.bytes, Code: l.text,
			})
		}
		out[i].N += row.n
		threads[k][row.tid] = true
	}
	for k, i := range index {
		out[i].Threads = len(threads[k])
	}
	return heaviestLoops(out)
}

// heaviestLoops keeps the most frequent loops of each process and second, and the row of
// what is none.
func heaviestLoops(all []recording.Loop) []recording.Loop {
	sorting.By(all, func(a, b recording.Loop) int {
		return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.PID, b.PID), cmp.Compare(b.N, a.N), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Address, b.Address))
	})
	var out []recording.Loop
	n := 0
	for i, l := range all {
		if i == 0 || l.T != all[i-1].T || l.PID != all[i-1].PID {
			n = 0
		}
		if l.Kind != recording.LoopWorks {
			n++
		}
		if l.Kind == recording.LoopWorks || n <= loopsEach {
			out = append(out, l)
		}
	}
	return out
}

// loopsRow is the coverage of the loops.
func (r *running) loopsRow() recording.Coverage {
	c := recording.Coverage{Probe: "oncpu.loops", State: recording.CoverageOK}
	switch {
	case r.failed != nil:
		c.State, c.Why = recording.CoverageFailed, r.failed.Error()
	case runtime.GOARCH != "amd64":
		c.State = recording.CoverageUnavailable
		c.Why = fmt.Sprintf("only the machine code of x86-64 is read, this is %s", runtime.GOARCH)
		c.Cure = "perf annotate shows what a hot function does"
	}
	return c
}
