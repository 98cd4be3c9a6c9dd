package offcpu

import (
	"encoding/binary"
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"snag/probes/threads"
	"snag/recording"
)

const lockAt = 0x7f00_0000_1000

func lockWait(tgid uint32, start uint64) kernelThread {
	return kernelThread{Start: start, Tgid: tgid, Nr: nrFutex, Args: [3]uint64{lockAt, 128, 2}, How: howSleep, Kstack: 10, Ustack: 1, Comm: comm("api")}
}

func TestFutexes(t *testing.T) {
	const s = 1_000_000_000
	var f futexes
	f.ended(kernelLockKey{Address: lockAt, Tgid: 60, Tid: 61, Lock: 1}, kernelLockValue{N: 3, Sum: s / 2, Max: s / 4, Kstack: 10, Ustack: 5, Comm: comm("api"), Waker: kernelWaker{Tgid: 60, Tid: 70, Votes: 2, Known: 1, Kstack: 21}})
	f.ended(kernelLockKey{Address: lockAt, Tgid: 60, Tid: 62, Lock: 1}, kernelLockValue{N: 1, Sum: s / 8, Max: s / 8, Waker: kernelWaker{Tgid: 60, Tid: 71, Votes: 1, Known: 1}})
	f.ended(kernelLockKey{Address: lockAt + 64, Tgid: 60, Tid: 63}, kernelLockValue{N: 1, Sum: 3 * s, Max: 3 * s})
	for tid, th := range map[uint32]kernelThread{61: lockWait(60, 5*s), 64: lockWait(60, 3*s)} {
		id, ok := futexWait(&th, nrFutex)
		if !ok || !id.lock {
			t.Fatal("a wait for a taken lock is not one")
		}
		f.goesOn(tid, &th, id, 5*s+s/2, 6*s)
	}
	list, left := f.busiest(10)
	if len(list) != 2 || left != 0 || !list[0].lock {
		t.Fatalf("locks come first: %+v", list)
	}
	row := lockRow(7, list[0], nil, said{}, said{})
	if row.Waiters != 3 || row.N != 4 || row.Sum != 0.625+1 || row.Max != 3 || row.Kind != kindMutex {
		t.Errorf("%+v", row)
	}
	if row.Owner != 70 || row.OwnerBy != "waker" {
		t.Errorf("without a word, who woke them: %+v", row)
	}
	if row = lockRow(7, list[1], nil, said{}, said{}); row.Kind != kindCondition || row.Owner != 0 {
		t.Errorf("a condition has no holder: %+v", row)
	}
	if list, left = f.busiest(0); len(list) != 0 || left != 2 {
		t.Errorf("what is left out is counted: %d", left)
	}
}

func TestFutexWait(t *testing.T) {
	awake := lockWait(1, 5)
	awake.Woken = 6
	preempted := lockWait(1, 5)
	preempted.How = howReady
	runs := lockWait(1, 0)
	reads := lockWait(1, 5)
	reads.Nr = unix.SYS_READ
	for name, th := range map[string]kernelThread{"woken": awake, "preempted": preempted, "running": runs, "another call": reads} {
		if _, ok := futexWait(&th, nrFutex); ok {
			t.Errorf("%s: waits", name)
		}
	}
	pool := lockWait(1, 5)
	pool.Args[2] = 0
	if id, ok := futexWait(&pool, nrFutex); !ok || id.lock {
		t.Errorf("a pool waits for no lock: %v %v", id, ok)
	}
}

func word(owner int32) func(int, uint64, []byte) error {
	return func(_ int, _ uint64, b []byte) error {
		for i, v := range []int32{2, 0, owner, 1, 0} {
			binary.NativeEndian.PutUint32(b[4*i:], uint32(v))
		}
		return nil
	}
}

func TestOwner(t *testing.T) {
	holder := kernelThread{Start: 5, Tgid: 60, Nr: unix.SYS_READ, Args: [3]uint64{9}, How: howSleep, Kstack: 11, Ustack: 2, Comm: comm("api")}
	w := world{
		memory: word(70), host: func(pid uint32, local int) (uint32, bool) { return uint32(local), pid == 60 && local == 70 },
		thread: func(tid uint32) (kernelThread, bool) { return holder, tid == 70 },
	}
	id := lockID{60, lockAt, true}
	h, ok := w.owner(id)
	if !ok || h.tid != 70 || h.call != "read" || h.fd != 9 || h.stack.thread != 2 || h.comm != "api" {
		t.Errorf("%+v %v", h, ok)
	}
	holder.Start = 0
	if h, ok = w.owner(id); !ok || h.call != "running" || h.fd != -1 {
		t.Errorf("a holder that runs: %+v %v", h, ok)
	}
	reads := int32(0)
	w.memory = func(pid int, at uint64, b []byte) error { reads++; return word(69+reads)(pid, at, b) }
	if h, ok = w.owner(id); ok {
		t.Errorf("a lock that changed hands tells nothing: %+v", h)
	}
	w.memory = word(71)
	if _, ok = w.owner(id); ok {
		t.Error("a thread of another process holds no lock of this one")
	}
	w.memory = func(int, uint64, []byte) error { return errors.New("no") }
	if _, ok = w.owner(id); ok {
		t.Error("an owner out of memory that was not read")
	}
}

func TestHoldersOfATurn(t *testing.T) {
	var h holding
	for tid := range uint32(5) {
		h.add(held{call: "read", fd: 9, stack: pair{60, 1, 2, 0}, tid: tid})
	}
	h.add(held{call: "running", fd: -1, stack: pair{60, noStack, noStack, 0}, tid: 9})
	if m := h.most(); m.call != "read" || m.tid != 4 {
		t.Errorf("most stood in the read, whoever they were: %+v", m)
	}
	x := &futex{lockID: lockID{60, lockAt, true}, waiters: map[uint32]bool{1: true, 2: true}}
	row := lockRow(1, x, &h, said{}, said{})
	if row.OwnerBy != "word" || row.Owner != 4 || row.OwnerCall != "read" || row.OwnerFD == nil || *row.OwnerFD != 9 || row.OwnerStack == 0 {
		t.Errorf("%+v", row)
	}
}

func TestJams(t *testing.T) {
	all := map[uint32]kernelThread{1: lockWait(60, 5), 2: lockWait(60, 6), 3: lockWait(61, 6), 4: {}}
	got := jams(all, nrFutex)
	if len(got) != 1 || got[0] != (lockID{60, lockAt, true}) {
		t.Errorf("%v", got)
	}
}

func TestEvents(t *testing.T) {
	owners := map[lockID]*holding{{60, lockAt, true}: {}}
	owners[lockID{60, lockAt, true}].add(held{call: "read", fd: 9, stack: pair{60, 1, 2, 0}, tid: 70})
	lock := event{kernelLongKey{Begin: 1e9, Tid: 61}, kernelLongValue{End: 3e9, Address: lockAt, Tgid: 60, Comm: comm("api")}}
	e := lock.row(recording.Anchor{}, said{}, said{}, owners)
	if e.Kind != recording.EventLockWait || e.Value != 2 || e.Attrs["owner"] != "70" || e.Attrs["function"] != "held_by" || e.Attrs["address"] != "0x7f0000001000" {
		t.Errorf("%+v", e)
	}
	lock.value.WakerTgid, lock.value.WakerTid, lock.value.WakerUstack = 60, 71, 4
	if e = lock.row(recording.Anchor{}, said{}, said{}, nil); e.Attrs["owner"] != "71" || e.Attrs["function"] != "held_by" {
		t.Errorf("by who let go: %+v", e)
	}
	cpu := event{kernelLongKey{Begin: 1e9, Tid: 61, Queued: 1}, kernelLongValue{End: 2e9, Tgid: 60, WakerTid: 80, WakerComm: comm("hog")}}
	if e = cpu.row(recording.Anchor{}, said{}, said{}, nil); e.Kind != recording.EventRunDelay || e.Attrs["ran"] != "hog[80]" || e.Subject.TID != 61 {
		t.Errorf("%+v", e)
	}
	cpu.value.WakerTid = 0
	if e = cpu.row(recording.Anchor{}, said{}, said{}, nil); e.Attrs["ran"] != "idle" {
		t.Errorf("%+v", e)
	}
}

func TestAdapt(t *testing.T) {
	e := effort{Threshold: leastThreshold, Rate: fullRate}
	if got := e.adapt(1, 0); got != e {
		t.Errorf("no limit: %+v", got)
	}
	if got := e.adapt(0.02, 0.01); got.Rate >= fullRate || got.Rate <= leastRate || got.Threshold != leastThreshold {
		t.Errorf("a little over: %+v", got)
	}
	if got := e.adapt(1, 0.01); got != (effort{leastThreshold, leastRate}) {
		t.Errorf("much over: %+v", got)
	}
	for range 20 {
		e = e.adapt(1, 0.01)
	}
	if e.Rate != leastRate || e.Threshold != mostThreshold {
		t.Errorf("stacks, then waits are given up: %+v", e)
	}
	if _, ok := e.less(); ok {
		t.Error("there is no less")
	}
	for range 30 {
		e = e.adapt(0, 0.01)
	}
	if e != (effort{leastThreshold, fullRate}) {
		t.Errorf("it comes back: %+v", e)
	}
}

func TestChange(t *testing.T) {
	add, drop := change([]int{5, 3, 7}, map[int]bool{3: true, 4: true})
	if len(add) != 2 || add[0] != 5 || add[1] != 7 || len(drop) != 1 || drop[0] != 4 {
		t.Errorf("%v %v", add, drop)
	}
}

// FuzzOwner reads a lock's word of a process that is not trusted.
func FuzzOwner(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 0, 0, 0, 0, 70, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		w := world{
			memory: func(_ int, _ uint64, into []byte) error { copy(into, b); return nil },
			host:   func(_ uint32, local int) (uint32, bool) { return uint32(local), local == 70 },
			thread: func(uint32) (kernelThread, bool) { return kernelThread{Tgid: 60}, true },
		}
		h, ok := w.owner(lockID{60, lockAt, true})
		if tid, known := threads.ParseOwner(append(append([]byte(nil), b...), make([]byte, 64)...)); ok && (!known || tid != 70 || h.tid != 70) {
			t.Errorf("owner %d out of %x", h.tid, b)
		}
	})
}
