package sockets

import (
	"fmt"
	"io"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/recording"
)

// inKernel is the BPF side: programs on tracepoints that count into tables.
type inKernel struct {
	maps    *ebpf.Collection       // and programs, if they were loaded together
	links   map[string][]link.Link // by measure, but for those of the hooks that are often
	often   []*attached
	names   bool            // a name server was seen, or who asks one from a socket that is connected to nobody: what is for these runs
	progs   []*ebpf.Program // that were loaded one by one
	reasons map[uint64]string
	epoch   uint32
	sweeps  []sweep       // none where turns can't be measured
	exit    *ebpf.Program // at the end of system calls; nil where it can't be had
	// lacks tells of each measure that can't be had here why.
	lacks map[string]*kernel.Lack
}

// loadInKernel loads what this kernel has. The error is that nothing can be
// loaded; single measures that can't are in lacks.
func loadInKernel(env *probe.Env) (*inKernel, error) {
	if l := kernel.CanLoad(env.Proc, env.Sys); l != nil {
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
		return nil, fmt.Errorf("read the BPF programs of sockets: %w", err)
	}
	if left, is := kernel.Tight(env.Proc, env.Sys); is {
		kernel.Shrink(spec)
		spec.Maps[kernelMapBirths].MaxEntries /= 8 // no hash table, but as large as one
		env.Sink.Append(recording.Fact{T: env.Now(), Name: "snag.tables", Value: "an eighth", Source: fmt.Sprintf("snag's memory control group has %d MB left", left>>20)})
	}
	return load(spec, types, sweepHere())
}

func relocatedBy(types *btf.Spec) ebpf.CollectionOptions {
	return ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: types}}
}

// load loads the programs of hooks and, of the two that sweep over TCP sockets, the one that is given.
func load(spec *ebpf.CollectionSpec, types *btf.Spec, sweeps hook) (*inKernel, error) {
	for _, one := range []hook{overStorage, overFiles} {
		if one.program != sweeps.program {
			delete(spec.Programs, one.program)
		}
	}
	hooks := append(slices.Clone(hooks), sweeps)
	k := &inKernel{lacks: missing(types, hooks), links: map[string][]link.Link{}}
	var err error
	if k.reasons, err = configure(spec, types, nanotime(), k.lacks["sockets.turns"] == nil); err != nil {
		return nil, err
	}
	for _, h := range hooks {
		if k.lacks[h.measure] != nil {
			delete(spec.Programs, h.program)
		}
	}
	if k.maps, err = ebpf.NewCollectionWithOptions(spec, relocatedBy(types)); err != nil {
		// Then each program alone: one that this kernel refuses costs its own
		// measure and no other.
		if err := k.loadOneByOne(spec, hooks); err != nil {
			return nil, err
		}
		return k, nil
	}
	for _, h := range hooks {
		if p := k.maps.Programs[h.program]; p != nil && k.lacks[h.measure] == nil {
			k.attach(h, p)
		}
	}
	return k, nil
}

// attached is a program that is attached in slices: link is nil between them.
type attached struct {
	hook
	of   *ebpf.Program
	link link.Link
}

func (a *attached) attach() (err error) {
	a.link, err = link.AttachTracing(link.TracingOptions{Program: a.of})
	return err
}

func (a *attached) detach() {
	if a.link != nil {
		a.link.Close()
		a.link = nil
	}
}

// sweep is a program that goes over open turns.
type sweep struct {
	hook
	iter *link.Iter
}

// rests tells of a program that nothing is there for yet.
func (k *inKernel) rests(h hook) bool { return h.forNames && !k.names }

func (k *inKernel) loadOneByOne(spec *ebpf.CollectionSpec, hooks []hook) (err error) {
	only := spec.Copy()
	only.Programs = nil
	if k.maps, err = ebpf.NewCollection(only); err != nil {
		return kernel.Explain("making the BPF maps of sockets", err)
	}
	for _, h := range hooks {
		if k.lacks[h.measure] != nil {
			continue
		}
		one := spec.Copy()
		one.Programs = map[string]*ebpf.ProgramSpec{h.program: one.Programs[h.program]}
		coll, err := ebpf.NewCollectionWithOptions(one, ebpf.CollectionOptions{MapReplacements: k.maps.Maps})
		if err != nil {
			k.refuse(h, err)
			continue
		}
		p := coll.DetachProgram(h.program)
		coll.Close()
		k.progs = append(k.progs, p)
		k.attach(h, p)
	}
	return nil
}

// attach hangs a program on its tracepoint, or notes why it can't.
func (k *inKernel) attach(h hook, p *ebpf.Program) {
	var l link.Link
	var err error
	switch {
	case h.onDemand:
		k.exit = p
		return
	case h.often:
		a := &attached{hook: h, of: p}
		if !k.rests(h) {
			if err := a.attach(); err != nil {
				k.refuse(h, err)
				return
			}
		}
		k.often = append(k.often, a)
		return
	case p.Type() == ebpf.RawTracepoint:
		l, err = kernel.AttachRaw(h.tracepoint, p)
	case h.tracepoint == "":
		l, err = k.attachSweep(p, h)
	default:
		l, err = link.AttachTracing(link.TracingOptions{Program: p})
	}
	if err != nil {
		k.refuse(h, err)
		return
	}
	k.links[h.measure] = append(k.links[h.measure], l)
}

// attachSweep readies an iterator.
func (k *inKernel) attachSweep(p *ebpf.Program, h hook) (link.Link, error) {
	it, err := link.AttachIter(link.IterOptions{Program: p, Map: k.maps.Maps[h.over]}) // nil: not over a map's elements
	if err != nil {
		return nil, err
	}
	k.sweeps = append(k.sweeps, sweep{h, it})
	return it, nil
}

// sweep ends the turns that nothing follows and counts those that are open. It
// runs before flip, so that they count to the second that ends.
func (k *inKernel) sweep() error {
	for _, s := range k.sweeps {
		if k.lacks[s.measure] != nil || k.rests(s.hook) {
			continue
		}
		r, err := s.iter.Open()
		if err != nil {
			return fmt.Errorf("look at the sockets' turns: %w", err)
		}
		_, err = io.Copy(io.Discard, r) // it writes nothing
		r.Close()
		if err != nil {
			return fmt.Errorf("look at the sockets' turns: %w", err)
		}
	}
	return nil
}

// refuse gives a measure up: with half of its programs it would tell lies.
func (k *inKernel) refuse(h hook, err error) {
	what := "counting at tracepoint " + h.tracepoint
	if h.tracepoint == "" {
		what = "iterating over sockets"
	}
	for _, m := range append([]string{h.measure}, h.also...) {
		k.lacks[m] = kernel.Explain(what, err)
		for _, l := range k.links[m] {
			l.Close()
		}
		delete(k.links, m)
		k.often = slices.DeleteFunc(k.often, func(a *attached) bool {
			if a.measure == m {
				a.detach()
			}
			return a.measure == m
		})
	}
}

func (k *inKernel) close() {
	for _, ls := range k.links {
		for _, l := range ls {
			l.Close()
		}
	}
	for _, a := range k.often {
		a.detach()
	}
	for _, p := range k.progs {
		p.Close()
	}
	k.maps.Close()
}

// flip sends the programs to the other tables and returns the suffix of those
// that they no longer touch, and the epoch these are of.
func (k *inKernel) flip() (suffix string, epoch uint32, err error) {
	epoch = k.epoch
	k.epoch++
	suffix = "_a"
	if epoch&1 == 1 {
		suffix = "_b"
	}
	if err := k.maps.Variables["epoch"].Set(k.epoch); err != nil {
		return "", 0, fmt.Errorf("swap the BPF tables of sockets: %w", err)
	}
	kernel.Grace()
	return suffix, epoch, nil
}

// cleared forgets how many rows an emptied table had: conn_rows or turn_rows.
func (k *inKernel) cleared(counter string, epoch uint32) error {
	v := k.maps.Variables[counter]
	var rows [2]uint32
	if err := v.Get(&rows); err != nil {
		return err
	}
	rows[epoch&1] = 0
	return v.Set(rows)
}

// lost are the events that found their table full, since the start, by table.
func (k *inKernel) lost() (n [9]uint64) {
	_ = k.maps.Variables["lost"].Get(&n) // of a mapped array: can't fail after load
	return n
}

func nanotime() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // exists on every kernel
	return uint64(ts.Nano())
}
