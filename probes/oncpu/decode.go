package oncpu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

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
}

// Values of taken.fresh.
const (
	freshProcess = 1 // it was not seen before
	freshProgram = 2 // it runs another program than before
)

const headSize = 16

var errShort = errors.New("a stack of the program oncpu is cut short")

// decodeStack reads a record of the ring.
func decodeStack(b []byte) (taken, error) {
	if len(b) < headSize {
		return taken{}, errShort
	}
	t := taken{kind: kind{hash: binary.LittleEndian.Uint64(b), pid: int(binary.LittleEndian.Uint32(b[8:]))}}
	kernel, user := int(b[12]), int(b[13])
	t.fresh = b[14]
	b = b[headSize:]
	if kernel > symbols.MostFrames || user > symbols.MostFrames || len(b) < 8*(kernel+user) {
		return taken{}, errShort
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
