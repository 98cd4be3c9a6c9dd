package symbols

import (
	"errors"
	"fmt"
	"path"

	"snag/internal/inlined"
)

// mostInlined files' debugging information is in memory at a time: each may take some
// 100 MB.
const mostInlined = 3

// inlinings are the tables of inlined functions.
type inlinings struct {
	asked  bool
	tables map[*object]*inlined.Table // nil: it has none
	open   int
	why    string // of the first file that has none
}

// ShowInlined has frames tell the functions that are inlined there. It reads the whole
// debugging information of each program that is named.
func (r *Resolver) ShowInlined() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inlined.asked, r.inlined.tables = true, map[*object]*inlined.Table{}
}

// InlinedMissing says why the inlined functions of a program are not shown; "" where they
// are, of all that were asked for.
func (r *Resolver) InlinedMissing() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inlined.why
}

// inlinedAt are the functions that are inlined at an address that has a name.
func (r *Resolver) inlinedAt(p *Image, addr uint64) []string {
	if !r.inlined.asked {
		return nil
	}
	m, ok := r.mapping(p, addr)
	if !ok || m.inode == 0 {
		return nil
	}
	o := r.object(p, m)
	if o.elf == nil {
		return nil
	}
	at, ok := o.elf.Address(addr - m.start + m.offset)
	if !ok {
		return nil
	}
	t := r.inlinedOf(o)
	if t == nil {
		return nil
	}
	return t.At(at)
}

// inlinedOf reads the debugging information of an object, or of the file that it was
// moved to.
func (r *Resolver) inlinedOf(o *object) *inlined.Table {
	if t, ok := r.inlined.tables[o]; ok {
		return t
	}
	if r.inlined.open >= mostInlined {
		r.inlined.because(fmt.Sprintf("more programs than %d", mostInlined))
		return nil
	}
	t, err := inlined.Open(o.file)
	if errors.Is(err, inlined.ErrNone) && o.debug != nil {
		t, err = inlined.Open(o.debug)
	}
	if err != nil {
		t = nil
		if !errors.Is(err, inlined.ErrNone) || !isLibrary(o.path) {
			r.inlined.because(path.Base(o.path) + ": " + err.Error())
		}
	} else {
		r.inlined.open++
	}
	r.inlined.tables[o] = t
	return t
}

// isLibrary tells files whose debugging information a distribution keeps apart, and
// nobody misses.
func isLibrary(file string) bool {
	return isLibc(file) || path.Base(file)[:min(3, len(path.Base(file)))] == "lib"
}

func (i *inlinings) because(why string) {
	if i.why == "" {
		i.why = why
	}
}
