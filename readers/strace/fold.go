package strace

import (
	"math/bits"

	"snag/recording"
	"snag/recording/calltable"
)

// folding takes the cells of a second together, where there are too many for a row each:
// those with most time keep theirs, the others of a process and call become one.
type folding struct {
	most   int
	least  int // of the bits of a cell's time that keeps its row; 0: all do
	n      int // taken together
	coarse map[foldKey]*recording.Call
}

type foldKey struct {
	proc *process
	call uint16
}

// folding looks how long the cells of the second are.
func (t *Trace) folding() folding {
	f := folding{most: t.most()}
	var lengths [65]int
	all := 0
	count := func(th *thread) {
		if th.cells.used == 0 {
			return
		}
		all += th.cells.used
		for i, key := range th.cells.keys {
			if key != 0 {
				lengths[bits.Len64(uint64(max(th.cells.slots[i].sum, 0)))]++
			}
		}
	}
	for _, th := range t.threads {
		count(th)
	}
	for _, th := range t.left {
		count(th)
	}
	if all <= f.most {
		return f
	}
	f.coarse = map[foldKey]*recording.Call{}
	kept := 0
	for f.least = 65; f.least > 1 && kept+lengths[f.least-1] <= f.most/2; f.least-- {
		kept += lengths[f.least-1]
	}
	return f
}

// take empties the cells of a thread.
func (f *folding) take(t *Trace, th *thread, table calltable.Table) {
	th.cells.empty(func(c *cell) {
		if bits.Len64(uint64(max(c.sum, 0))) >= f.least {
			table.Add(c.row(t.second, th, t.calls, t.errnos))
			return
		}
		f.n++
		k := foldKey{th.proc, uint16(c.key >> 32)}
		row := f.coarse[k]
		if row == nil {
			row = c.row(t.second, th, t.calls, t.errnos)
			row.TID, row.FD, row.Comm = 0, calltable.SeveralFDs, th.proc.comm
			if int32(uint32(c.key)) < 0 {
				row.FD = -1
			}
			f.coarse[k] = row
			return
		}
		c.addTo(row, t.errnos)
	})
}

// add adds the rows that stand for several.
func (f *folding) add(t *Trace, table calltable.Table) {
	for _, row := range f.coarse {
		table.Add(row)
	}
}
