package states

import (
	"cmp"
	"strings"

	"snag/internal/calls"
	"snag/internal/kernel"
	"snag/internal/sorting"
	"snag/probes/sockets/diag"
	"snag/probes/threads"
	"snag/recording"
)

// What a thread was found in: enum doing of states.bpf.c.
const (
	runs = iota + 1
	sleeps
	uninterruptible
	stopped
)

// letters are the states as ps(1) and Thread.State have them.
var letters = map[uint8]string{runs: "R", sleeps: "S", uninterruptible: "D", stopped: "T"}

// kinds are what a descriptor is of: enum kind of states.bpf.c.
var kinds = map[uint8]string{1: recording.OfSocket, 2: recording.OfPipe, 3: recording.OfFile}

// compat marks the number of a 32-bit call: NR_COMPAT of bpf/calls.h.
const compat = 1 << 28

// found is an entry of the table.
type found struct {
	key   kernelFoundKey
	value kernelFoundValue
}

// rows are those of a second, in which so many looks were had. The threads of a process
// that has many are taken together.
func rows(all []found, t recording.Time, looks uint64) (out []recording.ThreadStates) {
	threads := map[uint32]map[uint32]bool{}
	for _, f := range all {
		if threads[f.key.Tgid] == nil {
			threads[f.key.Tgid] = map[uint32]bool{}
		}
		threads[f.key.Tgid][f.key.Tid] = true
	}
	type place struct {
		pid, tid, fd int
		state, call  string
		object       uint64
		remote       string
		io, lock     bool
	}
	at := map[place]*recording.ThreadStates{}
	in := map[place]map[uint32]bool{} // threads
	for _, f := range all {
		row := rowOf(f)
		if len(threads[f.key.Tgid]) > mostThreads {
			row.TID, row.Comm = 0, ""
		}
		p := place{row.PID, row.TID, row.FD, row.State, row.Call, row.Inode + row.Futex, row.Remote, row.IO, row.Lock}
		if at[p] == nil {
			row.T, row.Looks = t, looks
			at[p], in[p] = &row, map[uint32]bool{}
		}
		at[p].N += uint64(f.value.N)
		in[p][f.key.Tid] = true
	}
	for p, row := range at {
		row.Threads = len(in[p])
		out = append(out, *row)
	}
	sorting.By(out, func(a, b recording.ThreadStates) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID), strings.Compare(a.State, b.State),
			strings.Compare(a.Call, b.Call), cmp.Compare(a.FD, b.FD), cmp.Compare(a.Inode, b.Inode), cmp.Compare(a.Futex, b.Futex))
	})
	return out
}

func rowOf(f found) recording.ThreadStates {
	row := recording.ThreadStates{
		PID: int(f.key.Tgid), TID: int(f.key.Tid), Parent: int(f.value.Parent), Comm: kernel.Text(f.value.Comm[:]),
		State: letters[f.key.Doing], IO: f.key.Io != 0, FD: -1,
	}
	nr := int(f.key.Nr)
	switch {
	case nr < 0:
	case nr&compat != 0:
		row.Call = threads.CompatName(nr &^ compat)
	default:
		row.Call = threads.CallName(nr)
		if f.key.Fd >= 0 {
			row.FD, row.Inode, row.Kind = int(f.key.Fd), f.key.Object, kinds[f.key.Kind]
			if f.key.Family != 0 {
				row.Remote = diag.Addr(byte(f.key.Family), f.key.Raddr[:], f.key.Rport)
			}
		} else if calls.Of(row.Call)&calls.Locks != 0 {
			row.Futex, row.Lock = f.key.Object, f.key.Lock != 0
		}
	}
	return row
}
