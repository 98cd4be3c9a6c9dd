package unwind

import (
	"encoding/binary"

	"snag/internal/elffile"
)

// keptOrder are the registers that the programs in the kernel keep of a thread: struct
// kept of probes/bpf/top.h.
var keptOrder = [...]int{elffile.RegRA, elffile.RegSP, elffile.RegBP, elffile.RegBX, 10, 12, 13, 14, 15}

// KeptSize is that of a struct kept, bytes.
const KeptSize = 8 * len(keptOrder)

// Kept reads a struct kept; b has KeptSize bytes.
func Kept(b []byte) (at Registers) {
	for i, register := range keptOrder {
		at.Set(register, binary.LittleEndian.Uint64(b[8*i:]))
	}
	return at
}
