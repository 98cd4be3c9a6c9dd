package syscalls

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"snag/internal/kernel"
	"snag/probes/syscalls/uring"
	"snag/probes/threads"
)

// options of the kernel side; they can't be changed once it is loaded.
type options struct {
	all  bool // every process but self
	self int
	peek int // bytes
	// entries are the sizes of maps that differ from tables.h, by name.
	entries map[string]uint32
}

// loaded is the kernel's side: the programs, and the maps.
type loaded struct {
	objects kernelObjects
	links   []link.Link
	epoch   uint32
	uring   uringShape
	// unseen is why no operation of io_uring is counted; ringless: there are none.
	unseen   *kernel.Lack
	ringless bool
}

// mostPeek is PEEK_MOST.
const mostPeek = 256

// load loads the programs and attaches none. Errors are *kernel.Lack where
// something is lacking here.
func load(proc, sys string, o options) (*loaded, error) {
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
	l := &loaded{ringless: !hasUring(types)}
	if !l.ringless {
		l.uring, l.unseen = shapeOf(types)
	}
	spec, err := loadKernel()
	if err != nil {
		return nil, fmt.Errorf("read the BPF programs of system calls: %w", err)
	}
	for name, v := range map[string]any{
		kernelVarKinds: kindsOf(threads.CallNames()), kernelVarKinds32: kindsOf(threads.CompatNames()),
		kernelVarAll: o.all, kernelVarSelf: uint32(o.self), kernelVarPeek: uint32(min(o.peek, mostPeek)),
		kernelVarOpKinds: uring.Kinds(), kernelVarSubmitShape: l.uring.submit, kernelVarCompleteShape: l.uring.complete,
		kernelVarHasCqeFlags: l.uring.flags,
	} {
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("set %s in the BPF programs of system calls: %w", name, err)
		}
	}
	for name, n := range o.entries {
		spec.Maps[name].MaxEntries = n
	}
	opts := &ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: types}}
	if err := spec.LoadAndAssign(&l.objects, opts); err != nil {
		return nil, kernel.Explain("loading the BPF programs of system calls", err)
	}
	return l, nil
}

// attach begins to count: at the ends of processes and their forks first, so that
// no child of a target is missed. Nothing is left of an earlier time.
func (l *loaded) attach(now int64) error {
	if err := kernel.Drain(l.objects.Targets, "system calls", func(*uint32, *uint64) {}); err != nil {
		return err
	}
	if err := kernel.Drain(l.objects.Threads, "system calls", func(*uint64, *kernelInCall) {}); err != nil {
		return err
	}
	if err := kernel.Drain(l.objects.Operations, "io_uring", func(*kernelOpKey, *kernelOp) {}); err != nil {
		return err
	}
	if err := l.objects.Attached.Set(uint64(now)); err != nil {
		return fmt.Errorf("set when the BPF programs of system calls begin: %w", err)
	}
	for _, p := range []*ebpf.Program{l.objects.Ended, l.objects.Forked, l.objects.LeaveCall, l.objects.EnterCall} {
		one, err := link.AttachTracing(link.TracingOptions{Program: p})
		if err != nil {
			l.detach()
			return kernel.Explain("attaching to the tracepoints of system calls", err)
		}
		l.links = append(l.links, one)
	}
	for _, h := range l.uringHooks() {
		one, err := kernel.AttachRaw(h.tracepoint, h.program)
		if err != nil {
			l.detach()
			return err
		}
		l.links = append(l.links, one)
	}
	return nil
}

func (l *loaded) attached() bool { return len(l.links) > 0 }

// detach ends the counting; what was counted can still be read.
func (l *loaded) detach() {
	for i := len(l.links) - 1; i >= 0; i-- {
		l.links[i].Close()
	}
	l.links = nil
}

// flip sends the programs to the other table and returns the one that they no
// longer touch, and which it is.
func (l *loaded) flip() (full *ebpf.Map, odd uint32, err error) {
	odd = l.epoch & 1
	l.epoch++
	if err := l.objects.Epoch.Set(l.epoch); err != nil {
		return nil, 0, fmt.Errorf("swap the BPF tables of system calls: %w", err)
	}
	kernel.Grace()
	if odd == 1 {
		return l.objects.CallsB, odd, nil
	}
	return l.objects.CallsA, odd, nil
}

// emptied forgets how many rows the table had. The programs count only in the
// other half meanwhile.
func (l *loaded) emptied(odd uint32) error {
	var rows [2]uint32
	if err := l.objects.Rows.Get(&rows); err != nil {
		return err
	}
	rows[odd] = 0
	return l.objects.Rows.Set(rows)
}

// losses is what found no room, as enum lost, and before.
type losses struct{ rows, threads, targets, notes, conns, operations, same, overflown, before uint64 }

func (l *loaded) losses() (n losses, err error) {
	var lost [8]uint64
	if err := l.objects.Lost.Get(&lost); err != nil {
		return n, err
	}
	err = l.objects.Before.Get(&n.before)
	n.rows, n.threads, n.targets, n.notes, n.conns = lost[0], lost[1], lost[2], lost[3], lost[4]
	n.operations, n.same, n.overflown = lost[5], lost[6], lost[7]
	return n, err
}

func (l *loaded) close() {
	l.detach()
	l.objects.Close()
}
