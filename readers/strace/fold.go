package strace

import (
	"math/bits"
	"slices"

	"snag/recording/calltable"
)

// folding takes the cells of a second together, where there are too many for a row each:
// those with most time keep theirs, the others of a process and call become one.
type folding struct {
	least int // of the bits of a cell's time that keeps its row; 0: all do
}

// lengths counts cells by the bits of their time.
type lengths struct {
	of  [65]int
	all int
}

func bitsOf(c *cell) int { return bits.Len64(uint64(max(c.sum, 0))) }

func (l *lengths) add(c *cell) {
	l.of[bitsOf(c)]++
	l.all++
}

// least is the lowest number of bits that at most the given number of cells reach.
func (l *lengths) least(most int) int {
	kept, least := 0, 65
	for ; least > 1 && kept+l.of[least-1] <= most; least-- {
		kept += l.of[least-1]
	}
	return least
}

func (l *lengths) addAll(th *thread) {
	if th.cells.used == 0 {
		return
	}
	for i, key := range th.cells.keys {
		if key != 0 {
			l.add(&th.cells.slots[i])
		}
	}
}

// folding looks how long the cells of the second are.
func (t *Trace) folding() folding {
	var l lengths
	for _, th := range t.threads {
		l.addAll(th)
	}
	return t.foldingLeft(l)
}

// foldingLeft looks at those of threads that ended besides.
func (t *Trace) foldingLeft(l lengths) folding {
	for _, th := range t.left {
		l.addAll(th)
	}
	if most := t.most(); l.all > most {
		return folding{l.least(most / 2)}
	}
	return folding{}
}

// take empties the cells of a thread.
func (f folding) take(t *Trace, th *thread, table calltable.Table) {
	th.cells.empty(func(c *cell) {
		if bitsOf(c) >= f.least {
			table.Add(c.row(t.second, th, t.calls, t.errnos))
			return
		}
		t.sums.add(th.proc, c)
	})
}

// sums are the cells of the present second that have no row of their own, by process and
// call. Their memory is used again in the next.
type sums struct {
	of   map[sumKey]int // places in all
	all  []summed
	rest map[uint16]*cell // of several processes, by call
	n    int              // cells
}

type sumKey struct {
	proc *process
	call uint16
}

type summed struct {
	sumKey
	cell
}

// mostSums is how many sums of one second are kept separately for each process.
const mostSums = 4096

func (s *sums) add(proc *process, c *cell) {
	s.n++
	k := sumKey{proc, uint16(c.key >> 32)}
	if i, ok := s.of[k]; ok {
		s.all[i].merge(c)
		return
	}
	if len(s.all) == mostSums {
		s.squeeze(mostSums / 4)
	}
	if s.of == nil {
		s.of, s.rest = map[sumKey]int{}, map[uint16]*cell{}
	}
	s.of[k] = len(s.all)
	one := summed{k, *c}
	one.errs = slices.Clone(c.errs)
	if int32(uint32(c.key)) >= 0 {
		one.key = keyOf(k.call, calltable.SeveralFDs)
	}
	s.all = append(s.all, one)
}

// squeeze keeps those with most time, up to the given number, and merges the others by call.
func (s *sums) squeeze(most int) {
	var l lengths
	for i := range s.all {
		l.add(&s.all[i].cell)
	}
	least, kept := l.least(most), s.all[:0]
	clear(s.of)
	for _, one := range s.all {
		if bitsOf(&one.cell) >= least {
			s.of[one.sumKey] = len(kept)
			kept = append(kept, one)
			continue
		}
		if s.rest[one.call] == nil {
			s.rest[one.call] = &cell{key: keyOf(one.call, calltable.SeveralFDs)}
		}
		s.rest[one.call].merge(&one.cell)
	}
	clear(s.all[len(kept):])
	s.all = kept
}

// tell adds their rows to those of the second, and forgets them. It returns how many cells
// there were.
func (s *sums) tell(t *Trace, table calltable.Table) (n int) {
	if most := t.most(); len(s.all) > most/4 {
		s.squeeze(most / 4)
	}
	nobody := &thread{proc: &process{}}
	for i := range s.all {
		one := &s.all[i]
		row := one.row(t.second, nobody, t.calls, t.errnos)
		row.PID, row.Comm = one.proc.pid, one.proc.comm
		table.Add(row)
	}
	for _, c := range s.rest {
		table.Add(c.row(t.second, nobody, t.calls, t.errnos))
	}
	n = s.n
	clear(s.all)
	clear(s.of)
	clear(s.rest)
	s.all, s.n = s.all[:0], 0
	return n
}
