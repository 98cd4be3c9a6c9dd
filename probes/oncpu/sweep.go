package oncpu

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
)

// The order of enum total in oncpu.bpf.c.
const (
	totalAll = iota
	totalIdle
	totalOthers
	totalLost
	totalStacks
	totalTime
	totalMax
)

// sweeper reads what the kernel counted.
type sweeper struct {
	l      *loaded
	ring   *ringbuf.Reader
	record ringbuf.Record
	second bool // counts_b is the map in use
	totals [totalMax]uint64
	// Read into, kept from sweep to sweep.
	keys   [][keySize]byte
	values [][valueSize]byte
}

const batch = 512

func newSweeper(l *loaded) (*sweeper, error) {
	ring, err := ringbuf.NewReader(l.objects.Stacks)
	if err != nil {
		return nil, fmt.Errorf("reading the stacks of the program oncpu: %w", err)
	}
	return &sweeper{l: l, ring: ring, keys: make([][keySize]byte, batch), values: make([][valueSize]byte, batch)}, nil
}

func (s *sweeper) close() { s.ring.Close() }

// stacks gives every stack that is handed over until then to take: at once where
// its process is new, else at the end.
func (s *sweeper) stacks(until time.Time, take func(taken)) error {
	s.ring.SetDeadline(until)
	for {
		err := s.ring.ReadInto(&s.record)
		if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, ringbuf.ErrFlushed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the stacks of the program oncpu: %w", err)
		}
		t, err := decodeStack(s.record.RawSample)
		if err != nil {
			return err
		}
		take(t)
	}
}

// sweep puts the other map in use and empties the one that was: what was counted
// since the last sweep, each sample once.
func (s *sweeper) sweep() ([]counted, error) {
	o := &s.l.objects
	old, next := o.CountsA, o.CountsB
	if s.second {
		old, next = next, old
	}
	if err := o.Current.Put(uint32(0), next); err != nil {
		return nil, fmt.Errorf("swapping the map of samples: %w", err)
	}
	s.second = !s.second
	entries, err := s.empty(old)
	if err != nil {
		return entries, fmt.Errorf("reading the map of samples: %w", err)
	}
	return entries, s.readTotals()
}

func (s *sweeper) empty(m *ebpf.Map) ([]counted, error) {
	var out []counted
	var cursor ebpf.MapBatchCursor
	for {
		n, err := m.BatchLookupAndDelete(&cursor, s.keys, s.values, nil)
		for i := range n {
			e, bad := decodeCount(s.keys[i][:], s.values[i][:])
			if bad != nil {
				return out, bad
			}
			out = append(out, e)
		}
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

func (s *sweeper) readTotals() error {
	for i := range uint32(totalMax) {
		var each []uint64
		if err := s.l.objects.Totals.Lookup(i, &each); err != nil {
			return fmt.Errorf("reading the totals of samples: %w", err)
		}
		s.totals[i] = 0
		for _, n := range each {
			s.totals[i] += n
		}
	}
	return nil
}

// again has the kernel hand these stacks over again when it sees them.
func (s *sweeper) again(kinds []kind) {
	for _, k := range kinds {
		// One that is not there any more is handed over anyway.
		_ = s.l.objects.Handed.Delete(kernelKey{Stack: k.hash, Tgid: uint32(k.pid)})
	}
}
