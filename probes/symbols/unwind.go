package symbols

import (
	"encoding/binary"

	"snag/internal/elffile"
)

// CutCopy is why a walk over a copy of the stack ended: there was more of it than
// was copied.
const CutCopy = "more stack than was copied"

// Registers of a thread where it was looked at, x86-64.
type Registers struct{ IP, SP, BP uint64 }

// End is how a walk over a copy ended.
type End uint8

// Values of End.
const (
	EndUnknown End = iota // nothing tells the caller: CutOf may know
	EndWhole              // at the thread's first frame
	EndCopy               // at the end of the copy
	EndDeep               // at MostFrames
)

// Cut is what Stack.Cut says of a walk that ended so.
func (e End) Cut(user []Frame) string {
	switch e {
	case EndWhole:
		return ""
	case EndCopy:
		return CutCopy
	case EndDeep:
		return CutTooDeep
	}
	return CutOf(user)
}

const mostRows = 1 << 14 // of an object that are kept

type knownRow struct {
	row elffile.Row
	ok  bool
}

// Unwind walks a copy of a thread's stack, which begins at its stack pointer, by the
// programs' call frame information, and by frame pointers where there is none (Go,
// code made at run time). It returns the addresses as a walk in the kernel would,
// innermost first, and how it ended.
func (r *Resolver) Unwind(image *Image, at Registers, stack []byte) (addrs []uint64, end End) {
	r.mu.Lock()
	defer r.mu.Unlock()
	base := at.SP
	read := func(address uint64) (uint64, bool) {
		off := address - base
		if address < base || off > uint64(len(stack)) || uint64(len(stack))-off < 8 {
			return 0, false
		}
		return binary.LittleEndian.Uint64(stack[off:]), true
	}
	for len(addrs) < MostFrames {
		m, ok := r.mapping(image, called(len(addrs), at.IP))
		if !ok {
			if len(addrs) == 0 {
				addrs = append(addrs, at.IP)
			}
			return addrs, EndUnknown
		}
		addrs = append(addrs, at.IP)
		row, known := r.row(image, m, called(len(addrs)-1, at.IP))
		if known && row.Outermost {
			return addrs, EndWhole
		}
		next, ok, ran := step(at, row, known, read)
		if !ok {
			if ran {
				return addrs, EndCopy
			}
			return addrs, EndUnknown
		}
		at = next
	}
	return addrs, EndDeep
}

// step goes to the caller's frame. ran: it ran out of the copy.
func step(at Registers, row elffile.Row, known bool, read func(uint64) (uint64, bool)) (next Registers, ok, ran bool) {
	if !known { // a frame pointer: it points to the caller's, the return address above
		if at.BP < at.SP || at.BP%8 != 0 {
			return at, false, false
		}
		row = elffile.Row{CFA: elffile.RegBP, Offset: 16, RA: -8, BP: -16, SavedBP: true}
	}
	var cfa uint64
	switch {
	case row.PLT:
		cfa = at.SP + 8
		if at.IP&15 >= 11 {
			cfa += 8
		}
	case row.CFA == elffile.RegSP:
		cfa = at.SP + uint64(row.Offset)
	case row.CFA == elffile.RegBP:
		cfa = at.BP + uint64(row.Offset)
	default: // a stack that was aligned anew, in a register that is not known
		return at, false, false
	}
	if cfa <= at.SP {
		return at, false, false
	}
	ra, ok := read(cfa + uint64(row.RA))
	if !ok {
		return at, false, true
	}
	next = Registers{IP: ra, SP: cfa, BP: at.BP}
	if row.SavedBP {
		if next.BP, ok = read(cfa + uint64(row.BP)); !ok {
			return at, false, true
		}
	}
	return next, ra != 0, false
}

// row is the call frame information for an address.
func (r *Resolver) row(image *Image, m mapping, addr uint64) (elffile.Row, bool) {
	var o *object
	switch {
	case m.path == "[vdso]":
		if r.vdso == nil {
			r.vdso = ownVDSO()
		}
		o = r.vdso
	case m.inode == 0:
		return elffile.Row{}, false
	default:
		o = r.object(image, m)
	}
	if o.elf == nil {
		return elffile.Row{}, false
	}
	at, ok := o.elf.Address(addr - m.start + m.offset)
	if !ok {
		return elffile.Row{}, false
	}
	if k, ok := o.rows[at]; ok {
		return k.row, k.ok
	}
	if o.rows == nil || len(o.rows) >= mostRows {
		o.rows = map[uint64]knownRow{}
	}
	row, ok := o.elf.FrameRow(at)
	o.rows[at] = knownRow{row, ok}
	return row, ok
}
