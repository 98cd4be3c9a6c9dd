package drops

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
)

// The order of enum lost in drops.bpf.c.
const (
	lostDrops = iota
	lostFlows
	lostStacks
	lostMax
)

// sweeper reads what the kernel counted, a period at a time.
type sweeper struct {
	l      *loaded
	second bool // counts_b is the map in use
	folded map[[keySize]byte]uint64
	lost   [lostMax]uint64 // running totals
	// Read into, kept from sweep to sweep.
	keys   [][keySize]byte
	values [][valueSize]byte
}

const batch = 512

func newSweeper(l *loaded) *sweeper {
	return &sweeper{
		l: l, folded: map[[keySize]byte]uint64{},
		keys: make([][keySize]byte, batch), values: make([][valueSize]byte, batch),
	}
}

// sweep puts the other map in use and empties the one that was: what was counted
// since the last sweep, each drop once.
func (s *sweeper) sweep() ([]entry, error) {
	o := &s.l.objects
	old, next := o.CountsA, o.CountsB
	if s.second {
		old, next = next, old
	}
	if err := o.Current.Put(uint32(0), next); err != nil {
		return nil, fmt.Errorf("swapping the map of drops: %w", err)
	}
	s.second = !s.second
	entries, err := s.empty(old)
	if err != nil {
		return entries, fmt.Errorf("reading the map of drops: %w", err)
	}
	more, err := s.totals()
	entries = append(entries, more...)
	if err != nil {
		return entries, fmt.Errorf("reading the totals of drops: %w", err)
	}
	return entries, errors.Join(s.readLost(), s.refill())
}

func (s *sweeper) empty(m *ebpf.Map) ([]entry, error) {
	var out []entry
	var cursor ebpf.MapBatchCursor
	for {
		n, err := m.BatchLookupAndDelete(&cursor, s.keys, s.values, nil)
		for i := range n {
			e, bad := decode(s.keys[i][:], s.values[i][:])
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

// totals reads the running totals of what did not fit, and gives their growth.
func (s *sweeper) totals() ([]entry, error) {
	var out []entry
	var key [keySize]byte
	var n uint64
	it := s.l.objects.Folded.Iterate()
	for it.Next(&key, &n) {
		grown := n - s.folded[key]
		if grown == 0 {
			continue
		}
		s.folded[key] = n
		var value [valueSize]byte
		binary.LittleEndian.PutUint64(value[:], grown)
		e, err := decode(key[:], value[:])
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	return out, it.Err()
}

func (s *sweeper) sum(what uint32) (uint64, error) {
	var each []uint64
	if err := s.l.objects.Lost.Lookup(what, &each); err != nil {
		return 0, err
	}
	var sum uint64
	for _, n := range each {
		sum += n
	}
	return sum, nil
}

// readLost adds up what was lost. A drop in a softirq that interrupts the
// counting of another on the same CPU is skipped by the kernel itself, which
// counts it from 5.12 on.
func (s *sweeper) readLost() error {
	for i := range uint32(lostMax) {
		n, err := s.sum(i)
		if err != nil {
			return fmt.Errorf("reading the losses: %w", err)
		}
		s.lost[i] = n
	}
	if stats, err := s.l.objects.KfreeSkb.Stats(); err == nil {
		s.lost[lostDrops] += stats.RecursionMisses
	}
	return nil
}

// refill gives every reason and place its stacks for the next second.
func (s *sweeper) refill() error {
	m := s.l.objects.Stacked
	var keys []kernelPlace
	var key kernelPlace
	var n uint32
	it := m.Iterate()
	for it.Next(&key, &n) {
		keys = append(keys, key)
	}
	// A loop that was cut short by a concurrent change is made up for next time.
	if err := it.Err(); err != nil && !errors.Is(err, ebpf.ErrIterationAborted) {
		return fmt.Errorf("reading the stacks taken: %w", err)
	}
	for _, k := range keys {
		if err := m.Delete(&k); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return fmt.Errorf("clearing the stacks taken: %w", err)
		}
	}
	return nil
}

// stack reads the addresses of a stack, innermost first.
func (s *sweeper) stack(id int32) ([]uint64, error) {
	var addrs [32]uint64
	if err := s.l.objects.Stacks.Lookup(uint32(id-1), &addrs); err != nil {
		return nil, fmt.Errorf("reading stack %d: %w", id, err)
	}
	return addrs[:], nil
}
