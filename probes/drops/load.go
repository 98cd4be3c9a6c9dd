package drops

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"

	"snag/internal/kernel"
)

// loaded is the kernel's side: the program on its tracepoint, and the maps.
type loaded struct {
	objects kernelObjects
	link    link.Link
	// What this kernel's tracepoint gives.
	hasReason, hasSocket bool
	reasons              map[uint64]string
}

// arguments reports which of its later arguments kfree_skb has on this kernel.
func arguments(types *btf.Spec) (reason, socket bool, err error) {
	args, err := kernel.TracepointArgs(types, "kfree_skb")
	if err != nil {
		return false, false, err
	}
	reason = len(args) > 2 && args[2] == "enum skb_drop_reason"
	socket = len(args) > 3 && args[3] == "struct sock *"
	return reason, socket, nil
}

// load loads the program and hangs it on the tracepoint; it counts from then on.
// Errors are *kernel.Lack where something is lacking here.
func load(stacksEach uint32) (*loaded, error) {
	if err := kernel.RaiseMemlock(); err != nil {
		return nil, err
	}
	types, err := kernel.Types()
	if err != nil {
		return nil, err
	}
	l := &loaded{}
	l.hasReason, l.hasSocket, err = arguments(types)
	if err != nil {
		return nil, err
	}
	if l.hasReason {
		if l.reasons, err = kernel.Enum(types, "skb_drop_reason"); err != nil {
			return nil, err
		}
	}
	spec, err := loadKernel()
	if err != nil {
		return nil, fmt.Errorf("reading the program drops out of the binary: %w", err)
	}
	purged := uint32(0)
	for v, name := range l.reasons {
		if name == "SKB_DROP_REASON_QUEUE_PURGE" {
			purged = uint32(v)
		}
	}
	for name, v := range map[string]any{
		kernelVarPurged: purged, kernelVarHasReason: l.hasReason, kernelVarHasRxSk: l.hasSocket, kernelVarStacksEach: stacksEach,
	} {
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("setting %s of the program drops: %w", name, err)
		}
	}
	opts := &ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: types}}
	if err := spec.LoadAndAssign(&l.objects, opts); err != nil {
		return nil, kernel.Explain("loading BPF program drops", err)
	}
	l.link, err = kernel.AttachRaw("kfree_skb", l.objects.KfreeSkb)
	if err != nil {
		l.objects.Close()
		return nil, err
	}
	return l, nil
}

// detach ends the counting; what was counted can still be read.
func (l *loaded) detach() {
	if l.link != nil {
		l.link.Close()
		l.link = nil
	}
}

func (l *loaded) close() {
	l.detach()
	l.objects.Close()
}
