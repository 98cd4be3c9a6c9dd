package perf

import (
	"cmp"
	"maps"
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
	k := kernelKey{st.function, st.caller, s.pid}
	row := t.kernel[k]
	if row == nil {
		if len(t.kernel) >= mostThreads {
			k = kernelKey{function: otherFunctions}
		}
		if row = t.kernel[k]; row == nil {
			row = &recording.ProfileRow{T: recording.Time(t.cell.begin), Function: k.function, Caller: k.caller, PID: k.pid, Comm: t.names[s.comm]}
			t.kernel[k] = row
		}
	}
	row.Samples += s.n
}

// steps are how long the cells become once so many rows are written.
var steps = []struct {
	rows   int
	length int64 // ns
}{{10_000, 10e9}, {30_000, 60e9}, {100_000, 600e9}}

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
	rows := slices.SortedFunc(maps.Values(t.kernel), func(a, b *recording.ProfileRow) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.PID, b.PID))
	})
	// One without any in the kernel has a row as well: it tells of how many samples.
	if len(rows) > functionsEach || len(rows) == 0 && t.cell.all > 0 {
		others := &recording.ProfileRow{T: recording.Time(t.cell.begin), Function: otherFunctions}
		for _, r := range rows[min(len(rows), functionsEach):] {
			others.Samples += r.Samples
		}
		rows = append(rows[:min(len(rows), functionsEach)], others)
	}
	for _, row := range rows {
		row.All, row.Hz = t.cell.all, hz
		t.out.Append(*row)
	}
	t.wrote += len(rows)
	t.cell.all, t.cell.weight = 0, 0
	clear(t.kernel)
}

// flushSamples writes the rows of threads.
func (t *tally) flushSamples() {
	type one struct {
		rowKey
		*recording.OnCPU
	}
	all := make([]one, 0, len(t.rows))
	for k, row := range t.rows {
		all = append(all, one{k, row})
	}
	slices.SortFunc(all, func(a, b one) int {
		switch {
		case a.N != b.N:
			return cmp.Compare(b.N, a.N)
		case a.tid != b.tid:
			return cmp.Compare(a.tid, b.tid)
		case a.stack != b.stack:
			return cmp.Compare(a.stack, b.stack)
		}
		return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.event.name, b.event.name))
	})
	for _, o := range all {
		if o.event.kind == clock && o.Weight > float64(o.N) { // ns, and not a count: the file has periods
			o.Hz, o.Weight = 1e9*float64(o.N)/o.Weight, 0
		} else {
			o.Event = o.event.name
		}
		t.out.Append(*o.OnCPU)
	}
	t.wrote += len(all)
	clear(t.rows)
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
