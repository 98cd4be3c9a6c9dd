package syscalls

import (
	"cmp"
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/recording"
)

// severalFDs is what Call.FD says of calls on several descriptors taken together.
const severalFDs = -2

// mostRows of a second are recorded, some 0.5 MB; beyond it they are taken together,
// and no call is left out.
const mostRows = 2048

// rowKey is what a row of the recording counts together.
type rowKey struct {
	pid, tid, fd int
	call         string
}

// table gathers one second's rows.
type table map[rowKey]*recording.Call

// add adds a row of the kernel's: failures and successes of a call make one.
func (t table) add(at recording.Time, anchor recording.Anchor, k *kernelCallKey, v *kernelCallValue) {
	key := rowKey{int(k.Pid), int(k.Tid), int(k.Fd), callName(k.Nr)}
	row := recording.Call{
		T: at, PID: key.pid, TID: key.tid, Comm: kernel.Text(v.Comm[:]), Call: key.call, FD: key.fd,
		N: v.N, Sum: float64(v.Sum) / 1e9, Max: float64(v.Max) / 1e9,
	}
	if v.MaxAt != 0 {
		row.MaxAt = anchor.FromMonotonic(int64(v.MaxAt))
	}
	if k.Err != 0 {
		row.Errors = map[string]uint64{errnoName(k.Err): v.N}
	}
	if bytes, asked := moves(key.call); bytes {
		done := v.Done
		row.Done = &done
		if asked {
			asked := v.Asked
			row.Asked = &asked
		}
	}
	for i, n := range v.Hist {
		if n > 0 {
			row.Hist = append(row.Hist, make([]uint64, i+1-len(row.Hist))...)
			row.Hist[i] = uint64(n)
		}
	}
	t.merge(key, &row)
}

// merge adds a row to what there is under a key.
func (t table) merge(key rowKey, row *recording.Call) {
	old := t[key]
	if old == nil {
		t[key] = row
		return
	}
	old.N += row.N
	old.Sum += row.Sum
	if row.Max > old.Max {
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

// coarser takes rows together until there are most at the most: of threads of a
// process first, then those with least time of all descriptors, then of all
// processes. Their counts stay exact. It returns how many were taken together.
func (t table) coarser(most int) (rows []*recording.Call, folded int) {
	all := len(t)
	steps := []func(rowKey) rowKey{
		func(k rowKey) rowKey { k.tid = 0; return k },
		func(k rowKey) rowKey { k.tid, k.fd = 0, severalFDs; return k },
		func(k rowKey) rowKey { return rowKey{call: k.call, fd: severalFDs} },
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
	rows = slices.SortedFunc(maps.Values(t), func(a, b *recording.Call) int {
		return cmp.Or(cmp.Compare(b.Sum, a.Sum), cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID), cmp.Compare(a.Call, b.Call), cmp.Compare(a.FD, b.FD))
	})
	return rows, all - len(rows)
}

// fold gives all but the keep rows with most time a coarser key.
func (t table) fold(keep int, coarser func(rowKey) rowKey) {
	keys := slices.SortedFunc(maps.Keys(t), func(a, b rowKey) int { return cmp.Compare(t[b].Sum, t[a].Sum) })
	for _, k := range keys[min(keep, len(keys)):] {
		to := coarser(k)
		if to == k {
			continue
		}
		row := t[k]
		delete(t, k)
		row.PID, row.TID, row.FD = to.pid, to.tid, to.fd
		if to.pid == 0 {
			row.Comm = ""
		}
		t.merge(to, row)
	}
}

// errnoName names an errno; one that has no name is a number.
func errnoName(err uint16) string {
	if name := unix.ErrnoName(unix.Errno(err)); name != "" {
		return name
	}
	if name, ok := kernelErrors[err]; ok {
		return name
	}
	return unix.Errno(err).Error()
}

// kernelErrors never reach a process: the call is made again, or a signal's handler
// runs first and it is EINTR (include/linux/errno.h). strace names them too.
var kernelErrors = map[uint16]string{
	512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND", 515: "ENOIOCTLCMD", 516: "ERESTART_RESTARTBLOCK",
}
