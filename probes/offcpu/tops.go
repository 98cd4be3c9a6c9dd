package offcpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cilium/ebpf/ringbuf"

	"snag/internal/unwind"
)

// topKey tells the tops of stacks apart: struct top_key of tables.h.
type topKey struct {
	stack  int32
	site   uint32
	wakers bool
}

// top is the top of a thread's own stack, with its registers: struct top of
// probes/bpf/top.h.
type top struct {
	topKey
	pid   int
	at    unwind.Registers
	bytes []byte // from the stack pointer up; valid until the next one is read
}

// Where struct top has what follows its key.
const (
	topTGID  = 8
	topWords = 12
	topWaker = 14
	topKept  = 16
	topWord  = topKept + unwind.KeptSize + 5*8
)

var errShort = errors.New("the top of a stack of the program offcpu is cut short")

// decodeTop reads a record of the ring.
func decodeTop(b []byte) (top, error) {
	if len(b) < topWord {
		return top{}, errShort
	}
	words := int(binary.LittleEndian.Uint16(b[topWords:]))
	if len(b)-topWord < 8*words {
		return top{}, errShort
	}
	return top{
		topKey: topKey{int32(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:]), b[topWaker] != 0},
		pid:    int(binary.LittleEndian.Uint32(b[topTGID:])),
		at:     unwind.Kept(b[topKept:]),
		bytes:  b[topWord:][:8*words],
	}, nil
}

// readTops gives the tops that were handed over to take.
func (k *inKernel) readTops(take func(top)) error {
	k.tops.SetDeadline(time.Unix(1, 0)) // what is there, without a wait
	for {
		err := k.tops.ReadInto(&k.record)
		if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, ringbuf.ErrFlushed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the tops of stacks of the program offcpu: %w", err)
		}
		t, err := decodeTop(k.record.RawSample)
		if err != nil {
			return err
		}
		take(t)
	}
}
