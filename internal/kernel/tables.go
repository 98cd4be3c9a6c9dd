package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// drainBatch entries are read from the kernel at a time.
const drainBatch = 1024

// Drain empties a hash table that no program writes any more. what names it in the
// error. Batches of hash tables are since 5.6.
func Drain[K, V any](m *ebpf.Map, what string, each func(*K, *V)) error {
	return walk(m, what, m.BatchLookupAndDelete, each)
}

// Walk reads a hash table that programs may write meanwhile: an entry is whole or
// missing only as far as programs write it at once.
func Walk[K, V any](m *ebpf.Map, what string, each func(*K, *V)) error {
	return walk(m, what, m.BatchLookup, each)
}

type batch func(cursor *ebpf.MapBatchCursor, keys, values any, opts *ebpf.BatchOptions) (int, error)

func walk[K, V any](m *ebpf.Map, what string, next batch, each func(*K, *V)) error {
	var cursor ebpf.MapBatchCursor
	size := min(drainBatch, int(m.MaxEntries()))
	b := roomFor[K, V](size)
	defer giveBack(b)
	keys, values := b.keys[:size], b.values[:size]
	for {
		n, err := next(&cursor, keys, values, nil)
		for i := range n {
			each(&keys[i], &values[i])
		}
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a BPF table of %s: %w", what, err)
		}
	}
}

// entries is where a batch of a table is read to.
type entries[K, V any] struct {
	keys   []K
	values []V
}

// rooms are entries that nobody uses, by their type. A batch takes up to 300 kB, and a recorder reads a
// dozen tables every second: with new ones each time they were two fifths of all that it allocated.
var rooms sync.Map

func roomFor[K, V any](size int) *entries[K, V] {
	if pool, ok := rooms.Load(reflect.TypeFor[entries[K, V]]()); ok {
		if b, ok := pool.(*sync.Pool).Get().(*entries[K, V]); ok && len(b.keys) >= size {
			return b
		}
	}
	return &entries[K, V]{make([]K, size), make([]V, size)}
}

func giveBack[K, V any](b *entries[K, V]) {
	pool, _ := rooms.LoadOrStore(reflect.TypeFor[entries[K, V]](), &sync.Pool{})
	pool.(*sync.Pool).Put(b)
}

// Grace returns once every BPF program that was running has ended, so that a table
// that new ones do not touch is complete. MEMBARRIER_CMD_GLOBAL waits for a grace
// period (kernel/sched/membarrier.c calls synchronize_rcu). Where it is not built
// in, a program takes microseconds and a dump comes between.
func Grace() { unix.Syscall(unix.SYS_MEMBARRIER, 1, 0, 0) }

// Text is a C string of a fixed size.
func Text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return strings.ToValidUTF8(string(b), "?")
}
