package runtimes

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"strconv"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"

	"snag/internal/elffile"
	"snag/internal/kernel"
	"snag/internal/procroot"
)

// What is attached to, by what for. A mutex' functions moved with Go 1.24.
var (
	lockSlow   = []string{"internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).lockSlow"}
	unlockSlow = []string{"internal/sync.(*Mutex).unlockSlow", "sync.(*Mutex).unlockSlow"}
	pollWait   = []string{"internal/poll.runtime_pollWait"}
	stopWorld  = []string{"runtime.stopTheWorldWithSema"}
	startWorld = []string{"runtime.startTheWorldWithSema"}
)

// registers of Go's calling convention, by offset in struct pt_regs
// (src/cmd/compile/abi-internal.md; arch/x86/include/asm/ptrace.h,
// arch/arm64/include/asm/ptrace.h).
var registers = map[string]map[string]uint32{
	"amd64": {golangVarRegG: 8, golangVarRegA: 80, golangVarRegB: 40, golangVarRegSp: 152, golangVarRegLink: 0}, // R14, RAX, RBX, RSP
	"arm64": {golangVarRegG: 28 * 8, golangVarRegA: 0, golangVarRegB: 8, golangVarRegSp: 31 * 8, golangVarRegLink: 30 * 8},
}

// inKernel is the BPF side: programs, and what they keep.
type inKernel struct {
	objects golangObjects
	unlocks *ringbuf.Reader
	stops   *ringbuf.Reader
}

// load loads the programs; they are attached to nothing.
func load(proc, sys string) (*inKernel, error) {
	regs, ok := registers[goruntime.GOARCH]
	if !ok {
		return nil, &kernel.Lack{Why: "where Go keeps arguments is not known of " + goruntime.GOARCH}
	}
	if l := kernel.CanLoad(proc, sys); l != nil {
		return nil, l
	}
	if err := kernel.RaiseMemlock(); err != nil {
		return nil, err
	}
	spec, err := loadGolang()
	if err != nil {
		return nil, fmt.Errorf("read the program golang out of the binary: %w", err)
	}
	for name, at := range regs {
		if err := spec.Variables[name].Set(at); err != nil {
			return nil, fmt.Errorf("set %s of the program golang: %w", name, err)
		}
	}
	k := &inKernel{}
	if err := spec.LoadAndAssign(&k.objects, nil); err != nil {
		return nil, kernel.Explain("loading BPF program golang", err)
	}
	k.unlocks, err = ringbuf.NewReader(k.objects.Unlocks)
	if err == nil {
		k.stops, err = ringbuf.NewReader(k.objects.Stops)
	}
	if err != nil {
		k.close()
		return nil, kernel.Explain("reading the rings of the program golang", err)
	}
	return k, nil
}

func (k *inKernel) close() {
	for _, r := range []*ringbuf.Reader{k.unlocks, k.stops} {
		if r != nil {
			r.Close()
		}
	}
	k.objects.Close()
}

// program is a Go process that is attached to.
type program struct {
	exe    *link.Executable
	starts map[string]uint64 // of the functions, offsets in the file
	locks  []link.Link
	polls  []link.Link
	world  []link.Link
}

// open finds the functions in the program that a process runs.
func open(proc string, pid int) (*program, error) {
	file, _, err := procroot.Regular(proc + "/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return nil, fmt.Errorf("open the program of process %d: %w", pid, err)
	}
	defer file.Close()
	e, err := elffile.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read the program of process %d: %w", pid, err)
	}
	p := &program{starts: map[string]uint64{}}
	for _, names := range [][]string{lockSlow, unlockSlow, pollWait, stopWorld, startWorld} {
		for name, address := range e.Functions().Starts(names...) {
			if offset, ok := e.Offset(address); ok {
				p.starts[name] = offset
			}
		}
	}
	// The link leads to the very file, replaced or deleted as it may be.
	if p.exe, err = link.OpenExecutable(fmt.Sprintf("%s/%d/exe", proc, pid)); err != nil {
		return nil, fmt.Errorf("read the program of process %d: %w", pid, err)
	}
	return p, nil
}

var errNoFunction = errors.New("has no such function")

// attach hangs a program on one function of a process, by the first of its names that
// it has.
func (p *program) attach(names []string, pid int, with *ebpf.Program) (link.Link, error) {
	for _, name := range names {
		offset, ok := p.starts[name]
		if !ok {
			continue
		}
		l, err := p.exe.Uprobe(name, with, &link.UprobeOptions{Address: offset, PID: pid})
		if err != nil {
			return nil, fmt.Errorf("attach to %s of process %d: %w", name, pid, err)
		}
		return l, nil
	}
	return nil, fmt.Errorf("attach to %s of process %d: it %w (built before Go 1.17, or with another compiler)", names[0], pid, errNoFunction)
}

func closeAll(links *[]link.Link) {
	for _, l := range *links {
		l.Close()
	}
	*links = nil
}

// hook is a function and what runs when a thread gets there.
type hook struct {
	names   []string
	program *ebpf.Program
}

// hang attaches all of the hooks, or none.
func (p *program) hang(to *[]link.Link, pid int, hooks ...hook) error {
	for _, h := range hooks {
		l, err := p.attach(h.names, pid, h.program)
		if err != nil {
			closeAll(to)
			return err
		}
		*to = append(*to, l)
	}
	return nil
}

func (p *program) close() {
	closeAll(&p.polls)
	closeAll(&p.locks)
	closeAll(&p.world)
}
