package offcpu

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"snag/internal/kernel"
)

// inKernel is the BPF side: programs on the scheduler's tracepoints, and tables.
type inKernel struct {
	objects kernelObjects
	links   []link.Link
	tops    *ringbuf.Reader
	record  ringbuf.Record
	epoch   uint32
}

// load loads the programs and hangs them on their tracepoints. They count nothing
// until a process is looked at. Errors are *kernel.Lack where something is lacking.
func load(proc, sys string) (*inKernel, error) {
	if l := kernel.CanLoad(proc, sys); l != nil {
		return nil, l
	}
	if l := kernel.SeesPIDs(proc); l != nil {
		return nil, l
	}
	if err := kernel.RaiseMemlock(); err != nil {
		return nil, err
	}
	types, err := kernel.Types()
	if err != nil {
		return nil, err
	}
	spec, err := loadKernel()
	if err != nil {
		return nil, fmt.Errorf("read the program offcpu out of the binary: %w", err)
	}
	set, err := configuration(types)
	if err != nil {
		return nil, err
	}
	for name, v := range set {
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("set %s of the program offcpu: %w", name, err)
		}
	}
	k := &inKernel{}
	opts := &ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: types}}
	if err := spec.LoadAndAssign(&k.objects, opts); err != nil {
		return nil, kernel.Explain("loading BPF program offcpu", err)
	}
	if k.tops, err = ringbuf.NewReader(k.objects.Tops); err != nil {
		k.close()
		return nil, fmt.Errorf("read the tops of stacks of the program offcpu: %w", err)
	}
	for _, p := range k.programs() {
		l, err := link.AttachTracing(link.TracingOptions{Program: p})
		if err != nil {
			k.close()
			return nil, kernel.Explain("hanging BPF programs on the scheduler's tracepoints", err)
		}
		k.links = append(k.links, l)
	}
	return k, nil
}

// programs in the order in which they are attached: a thread that is born or woken
// before switches are seen is not known and not counted.
func (k *inKernel) programs() []*ebpf.Program {
	return []*ebpf.Program{k.objects.Switched, k.objects.Waking, k.objects.Born}
}

// configuration fits the programs to this kernel.
func configuration(types *btf.Spec) (map[string]any, error) {
	args, err := kernel.TracepointArgs(types, "sched_switch")
	if err != nil {
		return nil, err
	}
	set := map[string]any{
		kernelVarHasPrevState: len(args) > 3 && args[3] == "unsigned int",
		kernelVarNrFutex:      uint32(unix.SYS_FUTEX),
	}
	// THREAD_SIZE is 16 KiB, but on arm64 with pages of 64 KiB: one page
	// (arch/arm64/include/asm/memory.h, MIN_THREAD_SHIFT).
	if size := os.Getpagesize(); size > 16384 {
		set[kernelVarThreadSize] = uint64(size)
	}
	return set, nil
}

// watch sets the processes that are looked at.
func (k *inKernel) watch(add, drop []int) error {
	for _, pid := range drop {
		if err := k.objects.Closer.Delete(uint32(pid)); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) { // it may have ended
			return fmt.Errorf("end looking at process %d: %w", pid, err)
		}
	}
	for _, pid := range add {
		if err := k.objects.Closer.Put(uint32(pid), uint8(1)); err != nil {
			return fmt.Errorf("begin looking at process %d: %w", pid, err)
		}
	}
	if len(add)+len(drop) == 0 {
		return nil
	}
	var filter [64]uint64
	var pid uint32
	var one uint8
	for it := k.objects.Closer.Iterate(); it.Next(&pid, &one); {
		filter[pid>>6&63] |= 1 << (pid & 63)
	}
	if err := k.objects.Filter.Set(filter); err != nil {
		return fmt.Errorf("set the filter of processes: %w", err)
	}
	return nil
}

// tables are those that no program touches any more.
type tables struct {
	waits, locks, longs, hands *ebpf.Map
}

// flip sends the programs to the other tables. now is CLOCK_MONOTONIC, ns.
func (k *inKernel) flip(now uint64) (tables, error) {
	o := &k.objects
	old := tables{o.WaitsA, o.LocksA, o.LongsA, o.HandsA}
	if k.epoch&1 == 1 {
		old = tables{o.WaitsB, o.LocksB, o.LongsB, o.HandsB}
	}
	k.epoch++
	if err := o.EpochAt.Set(now); err != nil {
		return old, fmt.Errorf("swap the BPF tables of offcpu: %w", err)
	}
	if err := o.Epoch.Set(k.epoch); err != nil {
		return old, fmt.Errorf("swap the BPF tables of offcpu: %w", err)
	}
	kernel.Grace()
	return old, nil
}

// set sets how much is taken.
func (k *inKernel) set(e effort) error {
	if err := k.objects.Threshold.Set(uint64(e.Threshold)); err != nil {
		return fmt.Errorf("set the threshold of offcpu: %w", err)
	}
	if err := k.objects.StackRate.Set(e.Rate); err != nil {
		return fmt.Errorf("set the rate of stacks of offcpu: %w", err)
	}
	return nil
}

// all are the threads that are looked at, as they are now.
func (k *inKernel) all() (map[uint32]kernelThread, error) {
	all := map[uint32]kernelThread{}
	err := kernel.Walk(k.objects.Threads, name, func(tid *uint32, t *kernelThread) { all[*tid] = *t })
	return all, err
}

// What the kernel's side could not count: enum lost of tables.h.
const (
	lostThreads = iota
	lostWaits
	lostLocks
	lostLong
	lostStacks
	noToken
	taken // no loss: stacks that were taken
	lostHands
	lostTops
	lostReturns
	lostMax
)

func (k *inKernel) lost() (n [lostMax]uint64) {
	_ = k.objects.Lost.Get(&n) // of a mapped array: can't fail after the load
	return n
}

// source is where the kernel's side keeps stacks of one kind: of threads that left
// their CPU, or of those that woke them.
type source struct {
	traces *ebpf.Map
	wakers bool
}

func (k *inKernel) sources() (left, wakers source) {
	return source{k.objects.Stacks, false}, source{k.objects.WakerStacks, true}
}

// addresses of a stack, innermost first; nil where there is none.
func (s source) addresses(id int32) []uint64 {
	if id < 0 {
		return nil
	}
	var at [64]uint64
	if err := s.traces.Lookup(uint32(id), &at); err != nil {
		return nil
	}
	n := 0
	for n < len(at) && at[n] != 0 {
		n++
	}
	return at[:n]
}

// close ends the counting and forgets it.
func (k *inKernel) close() {
	for _, l := range k.links {
		l.Close()
	}
	k.links = nil
	if k.tops != nil {
		k.tops.Close()
	}
	k.objects.Close()
}
