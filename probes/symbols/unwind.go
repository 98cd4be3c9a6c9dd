package symbols

import (
	"strings"

	"snag/internal/elffile"
	"snag/internal/unwind"
)

// CutCopy is why a walk over a copy of the stack ended: there was more of it than
// was copied.
const CutCopy = "more stack than was copied"

// CutAfter is what Stack.Cut says of a walk that ended so.
func CutAfter(e unwind.End, user []Frame) string {
	switch e {
	case unwind.EndWhole:
		return ""
	case unwind.EndCopy:
		if len(user) > 0 && isStart(user[len(user)-1]) {
			return ""
		}
		return CutCopy
	case unwind.EndDeep:
		return CutTooDeep
	}
	return CutOf(user)
}

// Unwind walks a copy of a thread's stack, which begins at its stack pointer, by the
// programs' call frame information, and by frame pointers where there is none (Go,
// code made at run time).
func (r *Resolver) Unwind(image *Image, at unwind.Registers, stack []byte) unwind.Walk {
	r.mu.Lock()
	defer r.mu.Unlock()
	return unwind.Full(code{r, image}, at, unwind.Stack{Base: at.SP(), Bytes: stack}, MostFrames)
}

// Mend adds the callers that a walk by frame pointers missed to it, from a copy of the
// top of the stack, which begins at the stack pointer.
func (r *Resolver) Mend(image *Image, at unwind.Registers, top []byte, chain []uint64) unwind.Walk {
	r.mu.Lock()
	defer r.mu.Unlock()
	return unwind.Leaves(code{r, image}, at, unwind.Stack{Base: at.SP(), Bytes: top}, chain, MostFrames)
}

// code is what one process runs. Of a Resolver that is locked.
type code struct {
	r     *Resolver
	image *Image
}

// Row implements unwind.Code.
func (c code) Row(address uint64) (*elffile.Row, unwind.Kind) {
	m, ok := c.r.mapping(c.image, address)
	if !ok {
		return nil, unwind.Nowhere
	}
	o := c.object(m)
	if o == nil && c.isPython(m, address) {
		return nil, unwind.Trampoline
	}
	if o == nil || o.elf == nil {
		return nil, unwind.FramePointers
	}
	at, ok := o.elf.Address(address - m.start + m.offset)
	if !ok {
		return nil, unwind.FramePointers
	}
	return o.rows.Of(o.elf, at)
}

// isPython tells the code that Python makes for each of its functions (-X perf).
func (c code) isPython(m mapping, address uint64) bool {
	f, why := c.r.inGenerated(c.image, m, address)
	return why == named && strings.HasPrefix(f.Function, "py::")
}

// object is the file of a mapping; nil where there is none.
func (c code) object(m mapping) *object {
	switch {
	case m.path == "[vdso]":
		if c.r.vdso == nil {
			c.r.vdso = ownVDSO()
		}
		return c.r.vdso
	case m.inode == 0:
		return nil
	}
	return c.r.object(c.image, m)
}

// Read implements unwind.Code: it reads the file, which tells of a process that has
// ended as well.
func (c code) Read(address uint64, b []byte) bool {
	m, ok := find(c.image.maps, address)
	if !ok {
		return false
	}
	o := c.object(m)
	if o == nil || o.file == nil {
		return false
	}
	_, err := o.file.ReadAt(b, int64(address-m.start+m.offset))
	return err == nil
}

// Function implements unwind.Code.
func (c code) Function(address uint64) unwind.Function {
	k, ok := c.image.known[address]
	if !ok {
		k.frame, _ = c.r.name(c.image, address)
	}
	f := unwind.Function{Object: k.frame.Object}
	if k.frame.Named {
		f.Name = k.frame.Function
	}
	return f
}
