package unwind

import "snag/internal/elffile"

// mostRows of an object are kept, 250 bytes each.
const mostRows = 1 << 12

// Rows remembers what an object tells of its addresses: looking a row up in .eh_frame
// costs more than all else of a step. The zero value is ready.
type Rows struct{ known map[uint64]knownRow }

type knownRow struct {
	row  *elffile.Row
	kind Kind
}

// Of gives the row at an address of f, as its ELF file counts, and how a frame there is
// to be walked.
func (r *Rows) Of(f *elffile.File, at uint64) (*elffile.Row, Kind) {
	if k, ok := r.known[at]; ok {
		return k.row, k.kind
	}
	if r.known == nil || len(r.known) >= mostRows {
		r.known = map[uint64]knownRow{}
	}
	k := knownRow{kind: Bare}
	switch {
	case f.IsGo():
		k.kind = FramePointers
	case !f.HasFrames():
		k.kind = Silent
	}
	if row, ok := f.FrameRow(at); ok {
		k = knownRow{&row, Told}
	}
	r.known[at] = k
	return k.row, k.kind
}
