package threads

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// Operations of futex(2) (include/uapi/linux/futex.h). FUTEX_PRIVATE_FLAG and
// FUTEX_CLOCK_REALTIME are masked off.
const (
	futexWait       = 0
	futexLockPI     = 6
	futexWaitBitset = 9
	futexLockPI2    = 13
	futexOperation  = 0x7f

	// taken is the value that a lock's word has once somebody waits for it: glibc
	// (nptl/lowlevellock.h), Rust's std and Go's runtime alike. Conditions, notes
	// and semaphores wait for another value.
	taken = 2
)

// ParseFutex reads the address that a futex call waits on and whether a lock is
// waited for, out of its first three arguments. A call that wakes somebody waits
// on nothing.
func ParseFutex(args [3]uint64) (address uint64, lock bool) {
	switch uint32(args[1]) & futexOperation {
	case futexWait, futexWaitBitset:
		return args[0], uint32(args[2]) == taken
	case futexLockPI, futexLockPI2:
		return args[0], true
	}
	return 0, false
}

// MutexHead is how much of a pthread_mutex_t is read: its state, and nothing that
// it protects. glibc, sysdeps/nptl/bits/struct_mutex.h: lock, count, owner, nusers,
// kind, an int each, on every 64-bit architecture.
const MutexHead = 20

// ParseOwner finds who holds a glibc mutex, as its own word says. Only the state of
// a lock that is waited for is taken for one: what lies behind the lock word of
// Rust or Go is something else. Whether the thread is one of the process, the
// caller must see.
func ParseOwner(b []byte) (tid int, ok bool) {
	if len(b) < MutexHead {
		return 0, false
	}
	word := func(i int) int32 { return int32(binary.NativeEndian.Uint32(b[4*i:])) }
	lock, owner, users, kind := word(0), word(2), word(3), word(4)
	// kind: the type in two bits and flags below 512 (nptl/pthreadP.h).
	if lock != taken || owner <= 0 || users <= 0 || kind < 0 || kind >= 512 {
		return 0, false
	}
	return int(owner), true
}

// Bounds of what is read of one process in one look.
const (
	mostLocks  = 8
	fewWaiters = 2 // a lock that one thread waits for is no convoy
)

// owners fills in, for the locks that several threads of a process wait for, who
// holds them. rows are the process' threads of this look.
func owners(pid int, rows []recording.Thread, read func(pid int, address uint64, b []byte) error) {
	waiters, ours := map[uint64]int{}, map[int]bool{}
	for _, row := range rows {
		ours[row.TID] = true
		if row.Lock {
			waiters[row.Futex]++
		}
	}
	asked, holder := 0, map[uint64]int{}
	for i := range rows {
		row := &rows[i]
		if !row.Lock || waiters[row.Futex] < fewWaiters {
			continue
		}
		tid, known := holder[row.Futex]
		if !known && asked < mostLocks {
			asked++
			var b [MutexHead]byte
			if err := read(pid, row.Futex, b[:]); err == nil {
				if owner, ok := ParseOwner(b[:]); ok && ours[owner] {
					tid = owner
				}
			}
			holder[row.Futex] = tid
		}
		row.Owner = tid
	}
}

// ReadMemory reads memory of another process as it is at this moment.
func ReadMemory(pid int, address uint64, b []byte) error {
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: len(b)}}, 0)
	if err == nil && n != len(b) {
		return unix.EFAULT
	}
	return err
}
