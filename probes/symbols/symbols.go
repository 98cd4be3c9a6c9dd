// Package symbols gives addresses their names: of the kernel, of programs and
// libraries, of what a runtime compiled while it ran. What a process maps is
// written by others, in any container: nothing of it is trusted, and what is kept
// in memory is bounded.
package symbols

import (
	"fmt"
	"path"
	"sync"
	"time"

	"snag/internal/kernel"
	"snag/recording"
)

// Bounds of what is kept.
const (
	mostProcesses = 1024
	mostObjects   = 128
	// leanProcesses and leanKnown, of all processes together, are for who asks now and then, for days:
	// the processes of a host that compiles and tests are new ones all the time.
	leanProcesses = 128
	leanKnown     = 1 << 14
	// TablesWhole and TablesLean, bytes, are what tables of functions may take
	// together: those of the objects last asked for are kept. The lean one is for who
	// asks now and then.
	TablesWhole = 24 << 20
	TablesLean  = 4 << 20
	mostKnown   = 1 << 14 // addresses of a process whose frames are kept
)

// Frame is what lies at one address.
type Frame struct {
	// Function is demangled; "OBJECT+0xOFFSET" where nothing names it.
	Function string
	Object   string // path as its process sees it; "[vdso]", "[jit]", "[anon]"; "" of the kernel
	BuildID  string // hex; "" where the object has none
	// Offset is the address as the object's linker has it; in memory without a file,
	// the address itself.
	Offset uint64
	Named  bool
	// Inlined are the functions that the compiler put into it there, the innermost
	// first, where they were asked for (ShowInlined).
	Inlined []string
}

// Counts say how the frames that were asked for ended.
type Counts struct {
	Frames, Named uint64
	// Why the rest have no name: the process had ended before its maps were read;
	// its maps or files may not be read; no table of symbols has the address (a
	// stripped program); code made at run time, without a map of it.
	Ended, Refused, Stripped, Generated uint64
}

// Resolver names addresses. Safe for concurrent use.
type Resolver struct {
	mu        sync.Mutex
	proc      string
	now       func() time.Time
	kernel    *kernel.Symbols
	kernelErr error
	loaded    bool
	processes map[int]*Image
	objects   map[fileID]*object
	tables    int // bytes
	most      int // of tables
	room      int // for processes
	known     int // addresses of all processes whose frames are kept
	mostKnown int // of them
	clock     uint64
	vdso      *object
	counts    Counts
	inlined   inlinings
}

// New returns a resolver that reads the procfs at proc. It reads nothing yet.
func New(proc string) *Resolver { return NewBounded(proc, TablesWhole) }

// NewBounded is New with another bound of what tables of functions take, bytes.
func NewBounded(proc string, tables int) *Resolver {
	r := &Resolver{proc: proc, most: tables, room: mostProcesses, mostKnown: mostProcesses * mostKnown, now: time.Now, processes: map[int]*Image{}, objects: map[fileID]*object{}}
	if tables <= TablesLean {
		r.room, r.mostKnown = leanProcesses, leanKnown
	}
	return r
}

// Close lets go of the files that are open.
func (r *Resolver) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, o := range r.objects {
		o.close()
		delete(r.objects, id)
	}
	clear(r.processes)
}

// Counts are those of all frames so far, the kernel's included.
func (r *Resolver) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// Kernel names addresses of the kernel, innermost first: those after the first are
// return addresses.
func (r *Resolver) Kernel(addrs []uint64) []Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loadKernel()
	out := make([]Frame, 0, len(addrs))
	for i, a := range addrs {
		f := Frame{Offset: a, Function: fmt.Sprintf("0x%x", a)}
		if name, _, ok := r.kernel.Lookup(called(i, a)); ok {
			f.Function, f.Named = name, true
			r.counts.Named++
		} else {
			r.counts.Refused++
		}
		r.counts.Frames++
		out = append(out, f)
	}
	return out
}

// KernelErr is why the kernel's frames have no names; nil where they have.
func (r *Resolver) KernelErr() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loadKernel()
	return r.kernelErr
}

func (r *Resolver) loadKernel() {
	if !r.loaded {
		r.loaded = true
		r.kernel, r.kernelErr = kernel.SharedSymbols(r.proc)
	}
}

// called is an address inside the call: a return address is that of the next
// instruction, which may be the next function's.
func called(i int, addr uint64) uint64 {
	if i > 0 && addr > 0 {
		return addr - 1
	}
	return addr
}

// User names addresses of a process, innermost first: those after the first are
// return addresses. A frame outside of all code ends the walk: a frame pointer was
// used for something else there, and nothing behind it is true.
func (r *Resolver) User(pid int, addrs []uint64) []Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.in(r.process(pid), addrs)
}

// In is User for what a process ran when Hold was called.
func (r *Resolver) In(image *Image, addrs []uint64) []Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.in(image, addrs)
}

func (r *Resolver) in(p *Image, addrs []uint64) []Frame {
	out := make([]Frame, 0, len(addrs))
	for i, a := range addrs {
		f, nowhere := r.user(p, called(i, a))
		if nowhere && i > 0 {
			break
		}
		out = append(out, f)
	}
	return out
}

// Hold reads now what a process has mapped, and opens the files that the addresses
// lie in, so that they can still be named when it has ended (In). It is cheap where
// that is known already.
func (r *Resolver) Hold(pid int, addrs []uint64) *Image {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.process(pid)
	if b := p.before; b != nil && len(addrs) > 0 && !holds(p, addrs[0]) && holds(b, addrs[0]) {
		p = b // a stack of the moment before the exec, read after it
	}
	for i, a := range addrs {
		if m, ok := r.mapping(p, called(i, a)); ok && m.inode != 0 {
			r.object(p, m)
		}
	}
	return p
}

// Forget reports that a process runs another program now. What it ran before is kept
// for stacks that were taken then and are read later (Hold), until the next.
func (r *Resolver) Forget(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.processes[pid]; p != nil {
		p.over = true
	}
}

// holds reports whether an address is known to lie in what was mapped.
func holds(p *Image, addr uint64) bool {
	_, ok := find(p.maps, addr)
	return ok
}

// user names one address, and counts how that ended.
// nowhere: it is known to be no code.
func (r *Resolver) user(p *Image, addr uint64) (f Frame, nowhere bool) {
	k, ok := p.known[addr]
	if !ok {
		k.frame, k.why = r.name(p, addr)
		if k.why == named {
			k.frame.Inlined = r.inlinedAt(p, addr)
		}
		if k.why == named || k.why == stripped { // the others may be known later
			r.keep(p, addr, k)
		}
	}
	if k.why == noCode {
		return k.frame, true
	}
	r.counts.Frames++
	switch k.why {
	case named:
		r.counts.Named++
	case ended:
		r.counts.Ended++
	case refused:
		r.counts.Refused++
	case stripped:
		r.counts.Stripped++
	case generated:
		r.counts.Generated++
	}
	return k.frame, false
}

// outcome is how the naming of an address ended.
type outcome uint8

const (
	named outcome = iota
	ended
	refused
	stripped
	generated
	noCode // nothing executable is mapped there
)

// name names one address of a process.
func (r *Resolver) name(p *Image, addr uint64) (Frame, outcome) {
	m, ok := r.mapping(p, addr)
	switch {
	case !ok && p.err == nil:
		return unnamed("", addr), noCode
	case !ok && p.ended():
		return unnamed("", addr), ended
	case !ok:
		return unnamed("", addr), refused
	case m.path == "[vdso]":
		return r.inVDSO(m, addr)
	case m.inode == 0:
		return r.inGenerated(p, m, addr)
	}
	o := r.object(p, m)
	f, why := o.frame(m, addr, r.most)
	r.account(o)
	return f, why
}

// unnamed is a frame without a name.
func unnamed(object string, offset uint64) Frame {
	name := path.Base(object)
	if object == "" {
		name = "[unknown]"
	}
	return Frame{Function: fmt.Sprintf("%s+0x%x", name, offset), Object: object, Offset: offset}
}

// Stack names a stack: the kernel's frames, if it was there, and the user frames
// below them, each innermost first.
func (r *Resolver) Stack(pid int, kernel, user []uint64) recording.Stack {
	return StackOf(r.Kernel(kernel), r.User(pid, user))
}

// StackOf makes one stack of the kernel's frames and the user's below them.
func StackOf(k, u []Frame) recording.Stack {
	s := recording.Stack{Kernel: len(k), Cut: CutOf(u)}
	if len(u) == 0 && len(k) > 0 {
		s.Kernel = -1
	}
	for _, f := range k {
		s.Frames = append(s.Frames, f.Function)
	}
	if len(u) > 0 {
		s.Objects = make([]string, len(k), len(k)+len(u))
	}
	for _, f := range u {
		for _, name := range f.Inlined {
			s.Frames, s.Objects = append(s.Frames, name+" (inlined)"), append(s.Objects, f.Object) // as perf script has them
		}
		s.Frames, s.Objects = append(s.Frames, f.Function), append(s.Objects, f.Object)
	}
	return s
}
