package oncpu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"unsafe"

	"snag/internal/unwind"
	"snag/probes/symbols"
)

// kind is one stack of one process.
type kind struct {
	pid  int
	hash uint64
}

// taken is a stack as the kernel hands it over (struct stack in oncpu.bpf.c).
type taken struct {
	kind
	kernel, user []uint64 // innermost first
	fresh        uint8
	// Of a sample with a copy of its user stack: it is counted here. Copies begin at the
	// stack pointer, and are valid until the next record is read.
	copied bool
	tid    int
	comm   string
	// The registers, and the copy: of the whole stack, or of its top; nil: none was made.
	at    unwind.Registers
	bytes []byte
	walked
}

// walked is how a walk over a copy ended.
type walked struct {
	end   unwind.End
	guess int
}

// Values of taken.fresh.
const (
	freshProcess = 1 // it was not seen before
	freshProgram = 2 // it runs another program than before
)

const (
	headSize = 16
	// Where struct stack has what follows its head.
	stackKept   = headSize
	stackWords  = stackKept + unwind.KeptSize + 4
	stackFrames = stackWords + 4
)

var errShort = errors.New("a stack of the program oncpu is cut short")

// Where struct copied has what follows its head.
const (
	copiedTID    = 16
	copiedComm   = 24
	copiedKept   = 40
	copiedFrames = copiedKept + unwind.KeptSize
	copiedChunk  = 1024
	copiedBytes  = copiedFrames + 8*64
)

// decodeCopied reads a record with a copy of the user stack.
func decodeCopied(b []byte) (taken, error) {
	size, kernel := binary.LittleEndian.Uint64(b), int(b[12])
	if len(b) < copiedBytes || size > uint64(len(b)-copiedBytes) || kernel > 64 {
		return taken{}, errShort
	}
	comm, _, _ := bytes.Cut(b[copiedComm:copiedKept], []byte{0})
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	t := taken{
		kind: kind{pid: int(binary.LittleEndian.Uint32(b[8:]))}, fresh: b[14], copied: true,
		tid: int(binary.LittleEndian.Uint32(b[copiedTID:])), comm: string(comm),
		at:    unwind.Kept(b[copiedKept:copiedFrames]),
		bytes: b[copiedBytes:][:size],
	}
	t.bytes = t.bytes[min(t.at.SP()%copiedChunk, size):] // that the stack pointer is in
	for i := range kernel {
		t.kernel = append(t.kernel, word(copiedFrames+8*i))
	}
	return t, nil
}

// hashOf tells stacks apart that were walked here, as the kernel does for its own.
func hashOf(kernel, user []uint64) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, a := range slices.Concat(kernel, []uint64{0}, user) {
		binary.LittleEndian.PutUint64(b[:], a)
		h.Write(b[:])
	}
	return max(h.Sum64(), 1)
}

// decodeStack reads a record of the ring.
func decodeStack(b []byte) (taken, error) {
	if len(b) < headSize {
		return taken{}, errShort
	}
	if b[15] != 0 {
		return decodeCopied(b)
	}
	t := taken{kind: kind{hash: binary.LittleEndian.Uint64(b), pid: int(binary.LittleEndian.Uint32(b[8:]))}}
	kernel, user := int(b[12]), int(b[13])
	t.fresh = b[14]
	if len(b) < stackFrames {
		return taken{}, errShort
	}
	words := int(binary.LittleEndian.Uint32(b[stackWords:]))
	kept := b[stackKept:stackWords]
	b = b[stackFrames:]
	if kernel > symbols.MostFrames || user > symbols.MostFrames || words > len(b)/8 || len(b) < 8*(kernel+user+words) {
		return taken{}, errShort
	}
	if words > 0 {
		t.at, t.bytes = unwind.Kept(kept), b[8*(kernel+user):][:8*words]
	}
	all := make([]uint64, kernel+user)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	t.kernel, t.user = all[:kernel:kernel], all[kernel:]
	return t, nil
}

const (
	keySize   = int(unsafe.Sizeof(kernelKey{}))
	valueSize = int(unsafe.Sizeof(kernelValue{}))
)

// counted is one entry of the map of counts.
type counted struct {
	kind
	tid  int
	comm string
	n    uint64
}

func decodeCount(key, value []byte) (counted, error) {
	if len(key) != keySize || len(value) != valueSize {
		return counted{}, fmt.Errorf("an entry of the program oncpu has %d and %d bytes", len(key), len(value))
	}
	comm, _, _ := bytes.Cut(value[8:24], []byte{0})
	return counted{
		kind: kind{hash: binary.LittleEndian.Uint64(key), pid: int(binary.LittleEndian.Uint32(key[8:]))},
		tid:  int(binary.LittleEndian.Uint32(key[12:])), comm: string(comm), n: binary.LittleEndian.Uint64(value),
	}, nil
}
