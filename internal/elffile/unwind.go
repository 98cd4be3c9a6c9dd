package elffile

import (
	"encoding/binary"
	"math"
)

// FunctionStart is where the function begins that an address lies in, by the
// sorted table that stack unwinding uses (.eh_frame_hdr, LSB Core 10.6.2): stripped
// programs keep it. It is read in place: no memory is taken.
func (f *File) FunctionStart(address uint64) (uint64, bool) {
	const (
		header = 12
		entry  = 8
	)
	at := f.unwind.Off
	h, err := f.bytes(at, header, header)
	// Version 1; the pointer pc-relative, the count absolute, the table relative to
	// the header, each in 4 bytes: what ld, gold, lld and mold write.
	if f.unwind.Filesz < header || err != nil || h[0] != 1 || h[1] != 0x1b || h[2] != 0x03 || h[3] != 0x3b {
		return 0, false
	}
	count := uint64(binary.LittleEndian.Uint32(h[8:]))
	if count == 0 || count > (f.unwind.Filesz-header)/entry || at > math.MaxInt64-f.unwind.Filesz {
		return 0, false
	}
	start := func(i uint64) (uint64, bool) {
		b, err := f.bytes(at+header+entry*i, 4, 4)
		if err != nil {
			return 0, false
		}
		return f.unwind.Vaddr + uint64(int64(int32(binary.LittleEndian.Uint32(b)))), true
	}
	low, high := uint64(0), count
	for low < high { // the first that begins beyond the address
		mid := low + (high-low)/2
		v, ok := start(mid)
		if !ok {
			return 0, false
		}
		if v > address {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if low == 0 {
		return 0, false
	}
	return start(low - 1)
}
