package elffile

import (
	"encoding/binary"
	"math"
)

// FunctionStart is where the function begins that an address lies in, by the
// sorted table that stack unwinding uses (.eh_frame_hdr, LSB Core 10.6.2): stripped
// programs keep it. It is read in place: no memory is taken.
func (f *File) FunctionStart(address uint64) (uint64, bool) {
	start, _, ok := f.entry(address)
	return start, ok
}

// entry is the entry of that table for an address: where the function begins and
// where its call frame information lies.
func (f *File) entry(address uint64) (start, record uint64, ok bool) {
	const (
		header = 12
		entry  = 8
	)
	at := f.unwind.Off
	h, err := f.bytes(at, header, header)
	// Version 1; the pointer pc-relative, the count absolute, the table relative to
	// the header, each in 4 bytes: what ld, gold, lld and mold write.
	if f.unwind.Filesz < header || err != nil || h[0] != 1 || h[1] != 0x1b || h[2] != 0x03 || h[3] != 0x3b {
		return 0, 0, false
	}
	count := uint64(binary.LittleEndian.Uint32(h[8:]))
	if count == 0 || count > (f.unwind.Filesz-header)/entry || at > math.MaxInt64-f.unwind.Filesz {
		return 0, 0, false
	}
	relative := func(b []byte) uint64 {
		return f.unwind.Vaddr + uint64(int64(int32(binary.LittleEndian.Uint32(b))))
	}
	low, high := uint64(0), count
	for low < high { // the first that begins beyond the address
		mid := low + (high-low)/2
		b, err := f.bytes(at+header+entry*mid, 4, 4)
		if err != nil {
			return 0, 0, false
		}
		if relative(b) > address {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if low == 0 {
		return 0, 0, false
	}
	b, err := f.bytes(at+header+entry*(low-1), entry, entry)
	if err != nil {
		return 0, 0, false
	}
	return relative(b), relative(b[4:]), true
}
