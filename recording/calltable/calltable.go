// Package calltable gathers one second's counts of system calls, and takes rows
// together where there are too many.
package calltable

import (
	"cmp"
	"maps"

	"snag/internal/sorting"
	"snag/recording"
)

// SeveralFDs is what Call.FD says of calls on several descriptors taken together.
const SeveralFDs = -2

// Most rows of a second are recorded, some 0.5 MB; beyond it they are taken
// together, and no call is left out.
const Most = 2048

// Key is what a row of the recording counts together.
type Key struct {
	PID, TID, FD int
	Call         string
}

// Table gathers one second's rows.
type Table map[Key]*recording.Call

// Add adds a row to what there is under its key.
func (t Table) Add(row *recording.Call) {
	t.merge(Key{row.PID, row.TID, row.FD, row.Call}, row)
}

func (t Table) merge(key Key, row *recording.Call) {
	old := t[key]
	if old == nil {
		t[key] = row
		return
	}
	old.N += row.N
	old.Sum += row.Sum
	if row.Max > old.Max || row.Max == old.Max && row.MaxAt < old.MaxAt {
		old.Max, old.MaxAt = row.Max, row.MaxAt
	}
	if len(row.Errors) > 0 && old.Errors == nil {
		old.Errors = map[string]uint64{}
	}
	for name, n := range row.Errors {
		old.Errors[name] += n
	}
	old.Asked, old.Done = sum(old.Asked, row.Asked), sum(old.Done, row.Done)
	if n := len(row.Hist) - len(old.Hist); n > 0 {
		old.Hist = append(old.Hist, make([]uint64, n)...)
	}
	for i, n := range row.Hist {
		old.Hist[i] += n
	}
}

func sum(a, b *uint64) *uint64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	s := *a + *b
	return &s
}

// Coarser takes rows together until there are most at the most: of threads of a
// process first, then those with least time of all descriptors, then of all
// processes. Their counts stay exact. It returns how many were taken together.
func (t Table) Coarser(most int) (rows []*recording.Call, folded int) {
	all := len(t)
	steps := []func(Key) Key{
		func(k Key) Key { k.TID = 0; return k },
		func(k Key) Key { k.TID, k.FD = 0, SeveralFDs; return k },
		func(k Key) Key { return Key{Call: k.Call, FD: SeveralFDs} },
	}
	for i, step := range steps {
		if len(t) <= most {
			break
		}
		keep := most / 2 // of the longest; and what the rest makes shall fit as well
		if i == 0 {
			keep = 0
		}
		t.fold(keep, step)
	}
	rows = sorting.Collect(maps.Values(t), func(a, b *recording.Call) int {
		return cmp.Or(cmp.Compare(b.Sum, a.Sum), cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID), cmp.Compare(a.Call, b.Call), cmp.Compare(a.FD, b.FD))
	})
	return rows, all - len(rows)
}

// fold gives all but the keep rows with most time a coarser key.
func (t Table) fold(keep int, coarser func(Key) Key) {
	type entry struct {
		key Key
		row *recording.Call
	}
	all := make([]entry, 0, len(t))
	for k, row := range t {
		all = append(all, entry{k, row})
	}
	// Of equally long ones always the same are kept: a file reads the same every time.
	sorting.By(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.row.Sum, a.row.Sum), cmp.Compare(a.key.PID, b.key.PID), cmp.Compare(a.key.TID, b.key.TID),
			cmp.Compare(a.key.Call, b.key.Call), cmp.Compare(a.key.FD, b.key.FD))
	})
	for _, e := range all[min(keep, len(all)):] {
		k, row := e.key, e.row
		to := coarser(k)
		if to == k {
			continue
		}
		delete(t, k)
		row.PID, row.TID, row.FD = to.PID, to.TID, to.FD
		if to.PID == 0 {
			row.Comm = ""
		}
		t.merge(to, row)
	}
}
