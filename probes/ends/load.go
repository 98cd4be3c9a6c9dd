package ends

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"snag/internal/kernel"
)

const tracepoint = "sched_process_exit"

type inKernel struct {
	maps  *ebpf.Collection
	link  link.Link
	epoch uint32
}

func load(proc, sys string) (*inKernel, error) {
	if l := kernel.CanLoad(proc, sys); l != nil {
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
		return nil, fmt.Errorf("read the program ends out of the binary: %w", err)
	}
	k := &inKernel{}
	if k.maps, err = ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: types}}); err != nil {
		return nil, kernel.Explain("loading BPF program ends", err)
	}
	if k.link, err = kernel.AttachRaw(tracepoint, k.maps.Programs[kernelProgEnded]); err != nil {
		k.maps.Close()
		return nil, err
	}
	return k, nil
}

// take empties the table that programs wrote to since the last time.
func (k *inKernel) take() (out []end, err error) {
	old := k.maps.Maps[kernelMapEndsA]
	if k.epoch&1 == 1 {
		old = k.maps.Maps[kernelMapEndsB]
	}
	k.epoch++
	if err := k.maps.Variables[kernelVarEpoch].Set(k.epoch); err != nil {
		return nil, fmt.Errorf("swap the BPF tables of ends: %w", err)
	}
	kernel.Grace()
	err = kernel.Drain(old, name, func(pid *uint32, e *kernelEnd) { out = append(out, end{*pid, *e}) })
	return out, err
}

func (k *inKernel) lost() (n uint64) {
	_ = k.maps.Variables[kernelVarLost].Get(&n) // of a mapped array: can't fail after the load
	return n
}

func (k *inKernel) close() {
	k.link.Close()
	k.maps.Close()
}
