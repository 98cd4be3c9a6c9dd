package memory

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"

	"snag/internal/kernel"
)

// Kinds of stalls: enum kind of memory.bpf.c.
const (
	reclaim = iota
	groupReclaim
	compaction
	kinds
)

// hooks are the programs of each measure, with their tracepoints.
var hooks = []struct{ program, tracepoint, measure string }{
	{kernelProgReclaimEnd, "mm_vmscan_direct_reclaim_end", measureReclaim},
	{kernelProgReclaimBegin, "mm_vmscan_direct_reclaim_begin", measureReclaim},
	{kernelProgGroupEnd, "mm_vmscan_memcg_reclaim_end", measureGroup},
	{kernelProgGroupBegin, "mm_vmscan_memcg_reclaim_begin", measureGroup},
	{kernelProgCompactionEnd, "mm_compaction_end", measureCompaction},
	{kernelProgCompactionWanted, "mm_compaction_try_to_compact_pages", measureCompaction},
	{kernelProgCompactionBegin, "mm_compaction_begin", measureCompaction},
}

// The measures. That of control groups is part of memory.reclaim.
const (
	measureReclaim    = name + ".reclaim"
	measureCompaction = name + ".compaction"
	measureGroup      = "control groups"
)

type inKernel struct {
	maps    *ebpf.Collection
	links   []link.Link
	epoch   uint32
	results map[uint64]string // enum compact_result
	lacks   map[string]*kernel.Lack
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
		return nil, fmt.Errorf("read the program memory out of the binary: %w", err)
	}
	k := &inKernel{lacks: missing(types)}
	for _, h := range hooks {
		if k.lacks[h.measure] != nil {
			delete(spec.Programs, h.program)
		}
	}
	if args, err := kernel.TracepointArgs(types, "mm_compaction_end"); err == nil && len(args) > 5 {
		if err := spec.Variables[kernelVarStatusIsFifth].Set(false); err != nil {
			return nil, fmt.Errorf("set %s of the program memory: %w", kernelVarStatusIsFifth, err)
		}
	}
	if k.results, err = kernel.Enum(types, "compact_result"); err != nil {
		k.results = nil // statuses stay numbers
	}
	if k.maps, err = ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: types}}); err != nil {
		return nil, kernel.Explain("loading BPF program memory", err)
	}
	for _, h := range hooks {
		p := k.maps.Programs[h.program]
		if p == nil {
			continue
		}
		l, err := link.AttachTracing(link.TracingOptions{Program: p})
		if err != nil {
			k.close()
			return nil, kernel.Explain("counting at tracepoint "+h.tracepoint, err)
		}
		k.links = append(k.links, l)
	}
	return k, nil
}

// missing reports which measures this kernel has no tracepoints for.
func missing(types *btf.Spec) map[string]*kernel.Lack {
	lacks := map[string]*kernel.Lack{}
	for _, h := range hooks {
		if !kernel.HasTracepoint(types, h.tracepoint) {
			lacks[h.measure] = &kernel.Lack{Why: "this kernel has no tracepoint " + h.tracepoint, Cure: "use a kernel built with CONFIG_COMPACTION=y, CONFIG_MEMCG=y"}
		}
	}
	return lacks
}

// flip sends the programs to the other table and returns the one that they no longer
// touch.
func (k *inKernel) flip() (*ebpf.Map, error) {
	old := k.maps.Maps[kernelMapIntervalsA]
	if k.epoch&1 == 1 {
		old = k.maps.Maps[kernelMapIntervalsB]
	}
	k.epoch++
	if err := k.maps.Variables[kernelVarEpoch].Set(k.epoch); err != nil {
		return nil, fmt.Errorf("swap the BPF tables of memory: %w", err)
	}
	kernel.Grace()
	return old, nil
}

// sums are all stalls so far, by kind.
func (k *inKernel) sums() (out [kinds]kernelSum, err error) {
	for kind := range uint32(kinds) {
		var each []kernelSum
		if err := k.maps.Maps[kernelMapSums].Lookup(kind, &each); err != nil {
			return out, fmt.Errorf("read a BPF table of memory: %w", err)
		}
		for _, s := range each {
			out[kind].N += s.N
			out[kind].Ns += s.Ns
		}
	}
	return out, nil
}

func (k *inKernel) lost() (n uint64) {
	_ = k.maps.Variables[kernelVarLost].Get(&n) // of a mapped array: can't fail after the load
	return n
}

func (k *inKernel) close() {
	for _, l := range k.links {
		l.Close()
	}
	k.maps.Close()
}
