package symbols

import (
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"
	"strings"

	"snag/internal/elffile"
	"snag/internal/procroot"
	"snag/internal/readable"
	"snag/internal/unwind"
)

// object is a file that is mapped to execute.
type object struct {
	id        fileID
	path      string
	file      *os.File // nil: it could not be opened
	elf       *elffile.File
	buildID   string
	debug     *os.File // where the symbols are when they were moved out
	functions *elffile.Functions
	packed    *elffile.Functions // what a stripped file carries along beside .dynsym
	read      bool               // the functions were looked for
	names     map[uint64]string
	rows      unwind.Rows // of call frame information
	cost      int         // bytes of its table
	counted   int
	used      uint64
	// pid is a process that maps it: its root is where debug files are looked for.
	proc string
	pid  int
}

const mostNames = 1 << 13 // names of an object that are kept

// object is the file of a mapping, opened once for all processes.
func (r *Resolver) object(p *Image, m mapping) *object {
	r.clock++
	if o := r.objects[m.fileID]; o != nil && (o.file != nil || p.gone || o.pid == p.pid) {
		o.used = r.clock
		return o
	}
	if r.objects[m.fileID] == nil && len(r.objects) >= mostObjects {
		r.drop()
	}
	o := &object{id: m.fileID, path: m.path, names: map[uint64]string{}, used: r.clock, proc: r.proc, pid: p.pid}
	if o.file = openMapped(r.proc, p.pid, m); o.file != nil {
		if e, err := elffile.Open(o.file); err == nil {
			o.elf, o.buildID = e, e.BuildID()
		}
	}
	r.objects[m.fileID] = o
	return o
}

// openMapped opens the file of a mapping; nil where that may not or can't be.
func openMapped(proc string, pid int, m mapping) *os.File {
	f, _, err := procroot.Mapped(proc, pid, procroot.Mapping{Start: m.start, End: m.end, Device: m.device, Inode: m.inode, Path: m.path, Deleted: m.deleted})
	if err != nil {
		return nil
	}
	return f
}

func (o *object) close() {
	for _, f := range []*os.File{o.file, o.debug} {
		if f != nil {
			f.Close()
		}
	}
}

// drop closes the object that was not asked for the longest.
func (r *Resolver) drop() {
	var oldest *object
	for _, o := range r.objects {
		if oldest == nil || o.used < oldest.used {
			oldest = o
		}
	}
	r.tables -= oldest.counted
	oldest.close()
	delete(r.objects, oldest.id)
}

// account bounds what the tables of all objects take: one that has not been asked
// for the longest is read again when it is.
func (r *Resolver) account(just *object) {
	r.tables += just.cost - just.counted
	just.counted = just.cost
	for r.tables > r.most {
		var oldest *object
		for _, o := range r.objects {
			if o != just && o.cost > 0 && (oldest == nil || o.used < oldest.used) {
				oldest = o
			}
		}
		if oldest == nil {
			return
		}
		r.tables -= oldest.counted
		oldest.functions, oldest.packed, oldest.read, oldest.cost, oldest.counted = nil, nil, false, 0, 0
	}
}

// frame names an address inside a mapping of the object.
// Tables in memory take most bytes at most.
func (o *object) frame(m mapping, addr uint64, most int) (Frame, outcome) {
	offset := addr - m.start + m.offset
	if o.elf == nil {
		why := refused
		if o.file != nil {
			why = stripped // no ELF file: nothing in it has a name
		}
		return unnamed(m.path, offset), why
	}
	at, ok := o.elf.Address(offset)
	if !ok {
		return unnamed(m.path, offset), stripped
	}
	o.load(most)
	f := Frame{Object: m.path, BuildID: o.buildID, Offset: at}
	name, start, ok := o.functions.Find(at)
	if !ok {
		name, start, ok = o.packed.Find(at)
	}
	if ok {
		f.Function, f.Named = o.demangled(start, name), true
		return f, named
	}
	// Where the function begins stands for it, so that its samples come together.
	if start, ok := o.elf.FunctionStart(at); ok {
		at = start
	}
	f.Function = unnamed(m.path, at).Function
	return f, stripped
}

// inVDSO names an address of the code that the kernel gives every process: it is
// the same for all, so snag's own is read.
func (r *Resolver) inVDSO(m mapping, addr uint64) (Frame, outcome) {
	if r.vdso == nil {
		r.vdso = ownVDSO()
	}
	return r.vdso.frame(m, addr, r.most)
}

// load reads the functions, from the file that they were moved to where they were.
func (o *object) load(most int) {
	if o.read {
		return
	}
	o.read = true
	held := 0 // bytes of what was unpacked
	if !o.elf.HasSymbols() {
		if o.debug == nil {
			o.debug = o.findDebug()
		}
		if o.debug != nil {
			if e, err := elffile.Open(o.debug); err == nil {
				o.functions = e.Functions()
			}
		}
	}
	if o.functions.Len() == 0 {
		o.functions = o.elf.Functions()
		if !o.elf.HasSymbols() {
			if packed, size, err := o.elf.DebugData(most); err == nil && packed != nil {
				o.packed, held = packed.Functions(), size
			}
		}
	}
	o.cost = held + 12*(o.functions.Len()+o.packed.Len())
}

// mostChecked bytes of a file are read to compare its CRC.
const mostChecked = 256 << 20

// findDebug looks where GDB looks for the symbols that were moved out of a file
// ("Debugging Information in Separate Files"): by the build id on the host and in
// the process' own root, then by the link's name beside it.
func (o *object) findDebug() *os.File {
	if raw, err := hex.DecodeString(o.buildID); err == nil && len(raw) > 1 {
		at := fmt.Sprintf("/usr/lib/debug/.build-id/%s/%s.debug", o.buildID[:2], o.buildID[2:])
		for _, pid := range []int{os.Getpid(), o.pid} {
			if f := o.openDebug(pid, at); f != nil {
				return f
			}
		}
	}
	name, crc, ok := o.elf.DebugLink()
	if !ok {
		return nil
	}
	dir := path.Dir(o.path)
	for _, at := range []string{path.Join(dir, name), path.Join(dir, ".debug", name), path.Join("/usr/lib/debug", dir, name)} {
		f := o.openDebug(o.pid, at)
		if f == nil {
			continue
		}
		if o.buildID != "" || sum(f) == crc {
			return f
		}
		f.Close()
	}
	return nil
}

// openDebug opens a file of symbols if it has the object's build id.
func (o *object) openDebug(pid int, at string) *os.File {
	f, err := procroot.Open(o.proc, pid, at, 0, true)
	if err != nil {
		return nil
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		if e, err := elffile.Open(f); err == nil && e.BuildID() == o.buildID {
			return f
		}
	}
	f.Close()
	return nil
}

func sum(f *os.File) uint32 {
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, mostChecked)); err != nil {
		return 0
	}
	return h.Sum32()
}

func (o *object) demangled(start uint64, name string) string {
	if s, ok := o.names[start]; ok {
		return s
	}
	if len(o.names) >= mostNames {
		clear(o.names)
	}
	s := strings.Clone(readable.Name(name))
	o.names[start] = s
	return s
}
