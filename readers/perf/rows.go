package perf

import (
	"cmp"
	"slices"

	"snag/recording"
)

// functionsEach of the kernel have a row of their own in a second, as the live
// probe writes them.
const functionsEach = 20

// otherFunctions is the row of the rest.
const otherFunctions = "others"

// inKernel counts the function of the kernel that ran.
func (t *tally) inKernel(s *sample, st *stack) {
	k := kernelKey{st.path, int32(s.pid)}
	row := t.kernel[k]
	if row == nil {
		if len(t.kernel) >= mostThreads {
			k = kernelKey{}
		}
		if row = t.kernel[k]; row == nil {
			row = &kernelCount{comm: s.comm}
			t.kernel[k] = row
		}
	}
	row.n += s.n
}

// kernelRows are those of the kernel's functions.
func (t *tally) kernelRows() []recording.ProfileRow {
	rows := make([]recording.ProfileRow, 0, len(t.kernel))
	for k, c := range t.kernel {
		row := recording.ProfileRow{T: recording.Time(t.cell.begin), Function: otherFunctions, PID: int(k.pid), Comm: t.names[c.comm], Samples: c.n}
		if k.path > 0 {
			row.Function, row.Caller = t.pathOf[k.path-1].function, t.pathOf[k.path-1].caller
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b recording.ProfileRow) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.PID, b.PID))
	})
	return rows
}

// steps are how long the cells become once so many rows are written.
var steps = []struct {
	rows   int
	length int64 // ns
}{{10_000, 10e9}, {20_000, 60e9}, {40_000, 600e9}}

// next writes what is counted and begins the second, or longer, of at: the
// recording of a long profile must not grow with it.
func (t *tally) next(at int64) {
	t.flush()
	for _, step := range steps {
		if t.wrote > step.rows {
			t.cell.length = step.length
		}
	}
	t.cell.begin = at - at%t.cell.length
}

// flush writes the rows of the cell.
func (t *tally) flush() {
	t.flushSamples()
	hz := 0.0
	if t.main != nil && t.main.kind == clock && t.cell.weight > float64(t.cell.all) {
		hz = 1e9 * float64(t.cell.all) / t.cell.weight
	}
	rows := t.kernelRows()
	// One without any in the kernel has a row as well: it tells of how many samples.
	if len(rows) > functionsEach || len(rows) == 0 && t.cell.all > 0 {
		others := recording.ProfileRow{T: recording.Time(t.cell.begin), Function: otherFunctions}
		for _, r := range rows[min(len(rows), functionsEach):] {
			others.Samples += r.Samples
		}
		rows = append(rows[:min(len(rows), functionsEach)], others)
	}
	for _, row := range rows {
		row.All, row.Hz = t.cell.all, hz
		t.out.Append(row)
	}
	t.wrote += len(rows)
	t.cell.all, t.cell.weight = 0, 0
	clear(t.kernel)
}

// flushSamples writes the rows of threads.
func (t *tally) flushSamples() {
	slices.SortFunc(t.counted, func(a, b counted) int {
		switch {
		case a.n != b.n:
			return cmp.Compare(b.n, a.n)
		case a.tid != b.tid:
			return cmp.Compare(a.tid, b.tid)
		case a.stack != b.stack:
			return cmp.Compare(a.stack, b.stack)
		}
		return cmp.Or(cmp.Compare(t.names[a.comm], t.names[b.comm]), cmp.Compare(a.event, b.event))
	})
	for i := range t.counted {
		c := &t.counted[i]
		if c.stack > 0 {
			t.order[c.stack-1].pinned = true
		}
		row := recording.OnCPU{T: recording.Time(t.cell.begin), PID: int(c.pid), TID: int(c.tid), Comm: t.names[c.comm], Stack: int(c.stack), N: c.n, Weight: c.weight}
		if e := t.sampled[c.event]; e.kind == clock && c.weight > float64(c.n) { // ns, and not a count: the file has periods
			row.Hz, row.Weight = 1e9*float64(c.n)/c.weight, 0
		} else {
			row.Event = e.name
		}
		t.out.Append(row)
	}
	t.wrote += len(t.counted)
	clear(t.rows)
	t.counted, t.full = t.counted[:0], false
}

// end writes the rest, and how many samples there were.
func (t *tally) end() {
	t.flush()
	t.writeStacks()
	if t.main != nil && t.main.kind == clock {
		at := recording.Time(t.last)
		t.out.Sample(at, "snag_oncpu_samples_total", recording.Labels{"what": "all"}, float64(t.main.samples))
		t.out.Sample(at, "snag_oncpu_samples_total", recording.Labels{"what": "idle"}, float64(t.idle))
	}
}
