package sides

import (
	"cmp"

	"snag/internal/sorting"
)

// How a connection of one capture was found on the other.
const (
	byAddress = "addresses"       // the same at both ends
	byNumbers = "numbers"         // other addresses (NAT), and the same initial sequence numbers
	byStamps  = "timestamps"      // other numbers as well, and the same timestamps
	byPattern = "bytes exchanged" // nothing but how many bytes went each way, and how they begin
)

// connection is one that is on both captures.
type connection struct {
	ids   [2]int
	flip  [2]bool      // the file's direction request is this one's answer
	base  [2][2]uint32 // by file and direction: the sequence numbers of the same byte
	mid   [2]bool      // the file has not seen it open
	how   string
	near  int // the file that is on the client's side; -1: not known yet
	flows [2]*flow
}

// matching finds the connections that are on both captures.
type matching struct {
	sides [2][]*flow
	taken [2][]bool
	out   []*connection
}

func match(a, b []*flow) []*connection {
	m := &matching{sides: [2][]*flow{a, b}, taken: [2][]bool{make([]bool, len(a)), make([]bool, len(b))}}
	m.addresses()
	m.keyed(byNumbers, func(f *flow) (key, bool) {
		return key{uint64(f.isn[request])<<32 | uint64(f.isn[answer])}, f.syn[request] && f.syn[answer]
	})
	m.keyed(byStamps, func(f *flow) (key, bool) {
		return key{uint64(f.stamp[request])<<32 | uint64(f.stamp[answer])}, f.stamp[request] != 0 && f.stamp[answer] != 0
	})
	m.sketched()
	m.keyed(byPattern, func(f *flow) (key, bool) {
		whole := f.syn[request] && f.syn[answer] && f.fin[request] && f.fin[answer]
		return key{f.prefix[request], f.prefix[answer], uint64(f.high[request]), uint64(f.high[answer])},
			whole && f.prefix[request] != 0 && f.prefix[answer] != 0
	})
	sorting.By(m.out, func(x, y *connection) int { return cmp.Compare(x.ids[0], y.ids[0]) })
	return m.out
}

type key [4]uint64

// addresses takes connections of the same addresses and ports. A port that was used
// again is told by the numbers.
func (m *matching) addresses() {
	of := map[ends][]int{}
	for j, g := range m.sides[1] {
		k := g.key()
		of[k] = append(of[k], j)
	}
	for i, f := range m.sides[0] {
		for _, j := range of[f.key()] {
			if m.taken[1][j] {
				continue
			}
			if c := m.same(i, j, len(of[f.key()]) == 1); c != nil {
				m.take(c, byAddress)
				break
			}
		}
	}
}

func (f *flow) key() ends {
	a, b := f.ends[0], f.ends[1]
	if b.Compare(a) < 0 {
		a, b = b, a
	}
	return ends{a, b}
}

// same reports whether two flows of the same addresses are one connection, and how
// their numbers relate.
func (m *matching) same(i, j int, only bool) *connection {
	f, g := m.sides[0][i], m.sides[1][j]
	c := m.connect(i, j)
	switch {
	case f.syn[request] && g.syn[request]:
		if f.isn[request] == g.isn[request] {
			return c
		}
		// A firewall may have put other numbers in.
		if f.stamp[request] != 0 && f.stamp[request] == g.stamp[request] || only && f.stamp[request] == 0 {
			return c
		}
		return nil
	case c.vote():
		return c
	}
	return m.overlap(c)
}

// connect relates two flows by their SYNs as far as they have them.
func (m *matching) connect(i, j int) *connection {
	f, g := m.sides[0][i], m.sides[1][j]
	c := &connection{ids: [2]int{i, j}, near: -1, flows: [2]*flow{f, g}, mid: [2]bool{!f.syn[request], !g.syn[request]}}
	if f.ends[0] == g.ends[1] && f.ends[1] == g.ends[0] { // who opened it was guessed in one of them
		c.flip[side(f.guessed)] = true
		if f.guessed == g.guessed {
			c.flip = [2]bool{false, true}
		}
	}
	for dir := range 2 {
		fd, gd := c.dir(0, dir), c.dir(1, dir)
		switch {
		case f.syn[fd] && g.syn[gd]:
			c.base[0][dir], c.base[1][dir] = f.isn[fd]+1, g.isn[gd]+1
		case f.syn[fd]:
			c.base[0][dir], c.base[1][dir] = f.isn[fd]+1, f.isn[fd]+1
		case g.syn[gd]:
			c.base[0][dir], c.base[1][dir] = g.isn[gd]+1, g.isn[gd]+1
		default:
			c.base[0][dir], c.base[1][dir] = f.begin[fd], f.begin[fd]
		}
	}
	return c
}

// dir is what a direction of the connection is in a file.
func (c *connection) dir(file, dir int) int {
	if c.flip[file] {
		return 1 - dir
	}
	return dir
}

// vote looks for segments that both captures remember: they tell by how much the
// numbers differ.
func (c *connection) vote() bool {
	found := 0
	for dir := range 2 {
		if c.flows[0].syn[c.dir(0, dir)] && c.flows[1].syn[c.dir(1, dir)] {
			found++
			continue
		}
		votes := map[uint32]int{}
		c.common(dir, func(x, y mark) { votes[y.seq-x.seq]++ })
		best, n := uint32(0), 0
		for delta, count := range votes {
			if count > n || count == n && delta < best {
				best, n = delta, count
			}
		}
		if n >= 2 || n == 1 && best == 0 {
			if c.flows[1].syn[c.dir(1, dir)] {
				c.base[0][dir] = c.base[1][dir] - best
			} else {
				c.base[1][dir] = c.base[0][dir] + best
			}
			found++
		}
	}
	return found == 2
}

// overlap: numbers that are the same cover the same bytes in part.
func (m *matching) overlap(c *connection) *connection {
	for dir := range 2 {
		f, g := c.flows[0], c.flows[1]
		fd, gd := c.dir(0, dir), c.dir(1, dir)
		if !f.any[fd] || !g.any[gd] {
			continue
		}
		apart := int64(int32(g.begin[gd] - f.begin[fd]))
		if apart+g.low[gd] > f.high[fd]+1 || apart+g.high[gd]+1 < f.low[fd] {
			return nil
		}
	}
	return c
}

// keyed takes connections that share a key which no other has.
func (m *matching) keyed(how string, of func(*flow) (key, bool)) {
	var by [2]map[key]int
	for s, flows := range m.sides {
		by[s] = map[key]int{}
		for i, f := range flows {
			k, ok := of(f)
			if !ok || m.taken[s][i] {
				continue
			}
			if _, double := by[s][k]; double {
				i = -1
			}
			by[s][k] = i
		}
	}
	for k, i := range by[0] {
		if j, ok := by[1][k]; ok && i >= 0 && j >= 0 {
			m.take(m.connect(i, j), how)
		}
	}
}

// sketched takes connections that were there before the captures began, and whose
// addresses differ, by the segments that both remember.
func (m *matching) sketched() {
	of := map[uint64]int{}
	for j, g := range m.sides[1] {
		if m.taken[1][j] || g.sketch == nil {
			continue
		}
		for dir := range g.sketch {
			for _, k := range g.sketch[dir].marks[:g.sketch[dir].n] {
				of[k.hash] = j
			}
		}
	}
	for i, f := range m.sides[0] {
		if m.taken[0][i] || f.sketch == nil {
			continue
		}
		votes := map[int]int{}
		for dir := range f.sketch {
			for _, k := range f.sketch[dir].marks[:f.sketch[dir].n] {
				if j, ok := of[k.hash]; ok {
					votes[j]++
				}
			}
		}
		for j, n := range votes {
			if n >= 3 && !m.taken[1][j] {
				if c := m.connect(i, j); c.vote() {
					m.take(c, byStamps)
					break
				}
			}
		}
	}
}

func (m *matching) take(c *connection, how string) {
	if m.taken[0][c.ids[0]] || m.taken[1][c.ids[1]] {
		return
	}
	m.taken[0][c.ids[0]], m.taken[1][c.ids[1]] = true, true
	c.how = how
	m.out = append(m.out, c)
}

// difference is what the second file's clock is ahead of the first's by one packet
// of each direction, and whether both were found: by the handshake, else by what
// both remember.
func (c *connection) difference() (there, back int64, ok bool) {
	f, g := c.flows[0], c.flows[1]
	if f.syn[request] && f.syn[answer] && g.syn[request] && g.syn[answer] {
		return g.synAt[request] - f.synAt[request], g.synAt[answer] - f.synAt[answer], true
	}
	var at [2]int64
	var seen [2]bool
	for dir := range 2 {
		c.common(dir, func(x, y mark) {
			if !seen[dir] {
				at[dir], seen[dir] = y.at-x.at, true
			}
		})
	}
	for dir := range 2 {
		if !seen[dir] && seen[1-dir] {
			return at[1-dir], at[1-dir], false
		}
	}
	return at[request], at[answer], false
}
