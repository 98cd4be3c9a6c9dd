package strace

import (
	"math/bits"

	"snag/recording"
)

// cell counts one call on one descriptor by one thread in one second.
type cell struct {
	key         uint64 // call << 32 | descriptor
	n           uint64
	sum         int64 // ns
	max, maxAt  int64
	asked, done uint64
	hasAsked    bool
	untimed     uint64 // of n, those whose length is not known
	hist        [34]uint32
	errs        []failing
}

// failing counts one error of a call.
type failing struct {
	errno uint16 // of Trace.errnos
	n     uint32
}

func (s *cell) failed(errno uint16) {
	for i := range s.errs {
		if s.errs[i].errno == errno {
			s.errs[i].n++
			return
		}
	}
	s.errs = append(s.errs, failing{errno, 1})
}

// cells is a table by key with open addressing, emptied each second.
type cells struct {
	keys  []uint64 // 0 is free
	slots []cell
	used  int
}

func keyOf(call uint16, fd int32) uint64 { return uint64(call)<<32 | uint64(uint32(fd)) }

func (c *cells) at(key uint64) *cell {
	if c.used*2 >= len(c.slots) {
		c.grow()
	}
	mask := uint64(len(c.slots) - 1)
	for i := (key * 0x9e3779b97f4a7c15 >> 40) & mask; ; i = (i + 1) & mask {
		switch c.keys[i] {
		case key:
			return &c.slots[i]
		case 0:
			c.keys[i], c.slots[i].key = key, key
			c.used++
			return &c.slots[i]
		}
	}
}

func (c *cells) grow() {
	old := c.slots
	n := max(4, 2*len(old))
	c.keys, c.slots, c.used = make([]uint64, n), make([]cell, n), 0
	for i := range old {
		if old[i].key != 0 {
			*c.at(old[i].key) = old[i]
		}
	}
}

// empty hands out each cell and forgets it.
func (c *cells) empty(use func(*cell)) {
	if c.used == 0 {
		return
	}
	for i := range c.slots {
		if c.slots[i].key != 0 {
			use(&c.slots[i])
			c.slots[i] = cell{}
		}
	}
	clear(c.keys)
	c.used = 0
}

// took adds a call that ended.
func (s *cell) took(at, ns int64) {
	s.n++
	if ns < 0 {
		s.untimed++
		return
	}
	if ns > s.max || s.maxAt == 0 {
		s.max, s.maxAt = ns, at
	}
	s.hist[bucket(ns)]++
}

// bucket is the place of recording.CallBound that a length falls into.
func bucket(ns int64) int {
	return min(max(bits.Len64(uint64(ns)>>10)-1, 0), 33)
}

// merge adds another cell of the same call.
func (s *cell) merge(c *cell) {
	if c.maxAt != 0 && (s.maxAt == 0 || c.max > s.max || c.max == s.max && c.maxAt < s.maxAt) {
		s.max, s.maxAt = c.max, c.maxAt
	}
	s.n, s.sum, s.asked, s.done, s.untimed = s.n+c.n, s.sum+c.sum, s.asked+c.asked, s.done+c.done, s.untimed+c.untimed
	s.hasAsked = s.hasAsked || c.hasAsked
	for i, n := range c.hist {
		s.hist[i] += n
	}
	for _, e := range c.errs {
		at := 0
		for at < len(s.errs) && s.errs[at].errno != e.errno {
			at++
		}
		if at == len(s.errs) {
			s.errs = append(s.errs, failing{errno: e.errno})
		}
		s.errs[at].n += e.n
	}
}

// row is the cell as the recording has it.
func (s *cell) row(second int64, th *thread, calls, errnos *callNames) *recording.Call {
	id := uint16(s.key >> 32)
	row := &recording.Call{
		T: recording.Time(second), PID: th.proc.pid, TID: th.tid, Comm: th.comm(), Call: calls.names[id], FD: int(int32(uint32(s.key))),
		N: s.n, Sum: float64(s.sum) / 1e9, Max: float64(s.max) / 1e9, MaxAt: recording.Time(s.maxAt),
	}
	if calls.class[id]&(reads|writes) != 0 {
		row.Done = &[]uint64{s.done}[0]
		if s.hasAsked {
			row.Asked = &[]uint64{s.asked}[0]
		}
	}
	if len(s.errs) > 0 {
		row.Errors = make(map[string]uint64, len(s.errs))
		for _, e := range s.errs {
			row.Errors[errnos.names[e.errno]] = uint64(e.n)
		}
	}
	for i, n := range s.hist {
		if n > 0 {
			row.Hist = append(row.Hist, make([]uint64, i+1-len(row.Hist))...)
			row.Hist[i] = uint64(n)
		}
	}
	return row
}
