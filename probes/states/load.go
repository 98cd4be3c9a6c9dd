package states

import (
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"snag/internal/calls"
	"snag/internal/kernel"
	"snag/internal/procroot"
	"snag/probes/threads"
)

type inKernel struct {
	maps     *ebpf.Collection
	walk     *link.Iter
	watched  map[int]uint8 // what the table has
	families map[int]bool  // that fork workers of their own program
}

func load(proc, sys string) (*inKernel, error) {
	if l := kernel.CanLoad(proc, sys); l != nil {
		return nil, l
	}
	if threads.CallNames() == nil {
		return nil, &kernel.Lack{Why: "the system calls' numbers of this architecture are not known to snag", Cure: "use snag on amd64 or arm64"}
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
		return nil, fmt.Errorf("read the program states out of the binary: %w", err)
	}
	if err := setCalls(spec); err != nil {
		return nil, err
	}
	k := &inKernel{watched: map[int]uint8{}, families: map[int]bool{}}
	if k.maps, err = ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: types}}); err != nil {
		return nil, kernel.Explain("loading BPF program states", err)
	}
	if k.walk, err = link.AttachIter(link.IterOptions{Program: k.maps.Programs[kernelProgLook]}); err != nil {
		k.maps.Close()
		return nil, kernel.Explain("walking over the tasks", err)
	}
	return k, nil
}

// setCalls tells the program which calls of this architecture have a descriptor first.
func setCalls(spec *ebpf.CollectionSpec) error {
	var onFD [512]uint8
	for nr, name := range threads.CallNames() {
		kind := calls.Of(name)
		if kind&calls.OnFD != 0 && nr < len(onFD) {
			onFD[nr] = 1
		}
		if name == "futex" {
			if err := spec.Variables[kernelVarNrFutex].Set(uint32(nr)); err != nil {
				return fmt.Errorf("set %s of the program states: %w", kernelVarNrFutex, err)
			}
		}
	}
	if err := spec.Variables[kernelVarOnFd].Set(onFD); err != nil {
		return fmt.Errorf("set %s of the program states: %w", kernelVarOnFd, err)
	}
	return nil
}

// How a process is watched (states.bpf.c): by itself, or with those that it began.
const (
	itself uint8 = iota + 1
	withChildren
)

// watch has the next looks look at these processes. Where one was forked by its own program, or forks such,
// as a database or a web server does, at the others of that family too: from then on, since who was forked for one
// connection has often ended by the time that it is found to be slow.
func (k *inKernel) watch(proc string, pids []int) error {
	table := k.maps.Maps[kernelMapWatched]
	now := map[int]uint8{}
	for _, pid := range pids {
		now[pid] = max(now[pid], itself)
		if parent := procroot.ForkedBy(proc, pid); parent > 0 {
			k.families[parent] = true
		} else if procroot.Forks(proc, pid) {
			k.families[pid] = true
		}
	}
	for parent := range k.families {
		if _, err := procroot.StartTime(proc, parent); err != nil { // it has ended
			delete(k.families, parent)
			continue
		}
		now[parent] = withChildren
	}
	for pid, how := range now {
		if k.watched[pid] == how {
			continue
		}
		if err := table.Put(uint32(pid), how); err != nil {
			return fmt.Errorf("watch process %d: %w", pid, err)
		}
	}
	for pid := range k.watched {
		if now[pid] == 0 {
			_ = table.Delete(uint32(pid)) // it is not looked at again either way: its rows would only be more
		}
	}
	k.watched = now
	return nil
}

// look has the kernel walk over all tasks once.
func (k *inKernel) look() error {
	r, err := k.walk.Open()
	if err != nil {
		return fmt.Errorf("walk over the tasks: %w", err)
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err != nil { // it writes nothing
		return fmt.Errorf("walk over the tasks: %w", err)
	}
	return nil
}

// take empties the table.
func (k *inKernel) take() (out []found, err error) {
	err = kernel.Drain(k.maps.Maps[kernelMapFound], name, func(key *kernelFoundKey, v *kernelFoundValue) { out = append(out, found{*key, *v}) })
	return out, err
}

func (k *inKernel) lost() (n uint64) {
	_ = k.maps.Variables[kernelVarLost].Get(&n) // of a mapped array: can't fail after the load
	return n
}

func (k *inKernel) close() {
	k.walk.Close()
	k.maps.Close()
}
