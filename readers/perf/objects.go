package perf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snag/internal/elffile"
	"snag/internal/kernel"
	"snag/internal/readable"
	"snag/internal/unwind"
	"snag/readers/perf/perfdata"
)

// objects gives names to addresses in files that are here: those that perf.data was
// recorded with, told by their build ids; by their paths alone only on the host that
// recorded, if they have not changed since.
type objects struct {
	root   string // "/", or that of a test
	ids    map[string]string
	known  map[objectKey]*object
	kernel *kernel.Symbols // nil: it is another kernel, or another start of it
	tables int
	// here reports that this very host recorded: files that have not changed since are
	// taken where their build ids are not told. since is when it was recorded.
	here  bool
	since time.Time
}

type objectKey struct{ path, id string }

type object struct {
	file      *os.File
	rows      unwind.Rows // call frame information, by address
	elf       *elffile.File
	functions *elffile.Functions
	names     map[uint64]string
}

const (
	mostHere   = 256      // files
	mostTables = 24 << 20 // bytes of tables of functions
)

func newObjects(root string, ids map[string]string) *objects {
	return &objects{root: root, ids: ids, known: map[objectKey]*object{}}
}

// name is the function at an offset of a file; "" where the file is not here, or
// does not tell.
func (o *objects) name(path, id string, offset uint64) string {
	f := o.find(path, id)
	if f == nil {
		return ""
	}
	at, ok := f.elf.Address(offset)
	if !ok {
		return ""
	}
	start, ok := f.functions.Start(at)
	if !ok {
		return ""
	}
	name, ok := f.names[start]
	if !ok { // read from the file but once: each process of a build has addresses of its own
		raw, _, _ := f.functions.Find(at)
		name = strings.Clone(readable.Name(raw))
		f.names[start] = name
	}
	return name
}

// find is a file that is here; nil: it is not.
func (o *objects) find(path, id string) *object {
	if id == "" {
		id = o.ids[path]
	}
	if strings.Trim(id, "0") == "" {
		if id = ""; !o.here {
			return nil
		}
	}
	k := objectKey{path, id}
	f, ok := o.known[k]
	if !ok {
		if len(o.known) >= mostHere || o.tables >= mostTables {
			return nil
		}
		f = o.open(path, id)
		o.known[k] = f
	}
	return f
}

// recorded reports who recorded, and when.
func (o *objects) recorded(all *perfdata.Features, at time.Time) {
	name, err := os.Hostname()
	release, err2 := os.ReadFile(filepath.Join(o.root, "proc/sys/kernel/osrelease"))
	o.here = err == nil && err2 == nil && name == all.Hostname && strings.TrimSpace(string(release)) == all.Release
	o.since = at
}

// open looks for a file with that build id: where it lay, and where perf archive's
// files are unpacked to (perf-archive(1)). Its symbols may lie beside, where Debian
// puts them.
func (o *objects) open(path, id string) *object {
	for _, at := range o.places(path, id) {
		f, err := os.Open(at)
		if err != nil {
			continue
		}
		e, err := elffile.Open(f)
		if st, statErr := f.Stat(); err != nil || statErr != nil || !st.Mode().IsRegular() || id == "" && st.ModTime().After(o.since) || id != "" && e.BuildID() != id {
			f.Close()
			continue
		}
		out := &object{file: f, elf: e, functions: e.Functions(), names: map[uint64]string{}}
		if !e.HasSymbols() {
			if t := o.debug(e.BuildID()); t.Len() > 0 {
				out.functions = t
			}
		}
		o.tables += 12 * out.functions.Len()
		return out
	}
	return nil
}

func (o *objects) places(path, id string) []string {
	var out []string
	if filepath.IsAbs(path) {
		out = append(out, filepath.Join(o.root, filepath.Clean(path)))
	}
	if home, err := os.UserHomeDir(); err == nil && len(id) > 2 {
		out = append(out, filepath.Join(o.root, home, ".debug/.build-id", id[:2], id[2:], "elf"), filepath.Join(o.root, home, ".debug/.build-id", id[:2], id[2:]))
	}
	return out
}

// debug are the functions of the file of symbols.
func (o *objects) debug(id string) *elffile.Functions {
	if len(id) <= 2 {
		return nil
	}
	f, err := os.Open(filepath.Join(o.root, fmt.Sprintf("usr/lib/debug/.build-id/%s/%s.debug", id[:2], id[2:])))
	if err != nil {
		return nil
	}
	e, err := elffile.Open(f)
	if err != nil || e.BuildID() != id {
		f.Close()
		return nil
	}
	return e.Functions()
}

// running takes this host's kernel for the names, if it is the one that was recorded
// and was not started anew since: its functions lie where they lay then.
func (o *objects) running(text uint64, id string) {
	if text == 0 || id != runningKernel(o.root) && (id != "" || !o.here) {
		return
	}
	all, err := kernel.SharedSymbols(filepath.Join(o.root, "proc"))
	if err != nil {
		return
	}
	// A start moves the kernel to another place (KASLR): then no function, or another
	// one's middle, is there. Several symbols share the first address.
	if _, offset, ok := all.Lookup(text); ok && offset == 0 {
		if _, _, before := all.Lookup(text - 1); !before {
			o.kernel = all
		}
	}
}

// runningKernel is the build id of this host's kernel.
func runningKernel(root string) string {
	b, err := os.ReadFile(filepath.Join(root, "sys/kernel/notes"))
	if err != nil {
		return ""
	}
	return elffile.NoteBuildID(b)
}

// inKernel is the function of the kernel at an address; "" where it is not known.
func (o *objects) inKernel(addr uint64) string {
	name, _, ok := o.kernel.Lookup(addr)
	if !ok {
		return ""
	}
	return name
}
