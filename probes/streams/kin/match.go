package kin

import (
	"cmp"
	"slices"

	"snag/internal/sorting"
)

// How sure a member must be.
const (
	enough   = 3           // runs that are the same, and
	over     = int64(1e9)  // ns between the first and the last of them
	least    = 24          // runs that came on both sides without one that both have: it is another stream now
	nearer   = int64(1e9)  // ns: of one film that is shown twice, the showing that is nearer by so much
	ahead    = int64(1e8)  // ns that a reader may seem to be before its publisher
	rivalAge = int64(15e9) // ns
)

// rival is another whose runs a member has, and whose stream is not known to be its.
type rival struct {
	m           *Member
	hits        int
	first, last int64
	rebase      int64 // ns: the member's DTS less the other's
	delay       int64 // ns: its arrival less the other's, the last
}

func (v *rival) root() *ident { return v.m.own.root() }

// run takes a run of a member: it is looked for at others, and theirs at it.
func (m *Member) run(h uint64, at, dts int64) {
	c := m.c
	m.runs++
	m.alone++
	m.own.root().runs++
	list := c.runs[h]
	mine := place{m: m, at: at, dts: dts}
	for i := range list {
		p := &list[i]
		if p.m == m || far(at-p.at) > oldest {
			continue
		}
		mine.same = m.saw(p.m, at, dts-p.dts, at-p.at) || mine.same
		if p.m.saw(m, at, p.dts-dts, p.at-at) && !p.same {
			p.same = true
			p.m.matched++
		}
	}
	if mine.same {
		m.matched++
	}
	c.remember(h, mine)
	c.forget(m.mine[m.count%kept], m)
	m.mine[m.count%kept] = h
	m.count++
}

// saw notes that a member has a run of another. It reports whether that is the stream
// that the member is known to be of.
func (m *Member) saw(o *Member, at, rebase, delay int64) bool {
	if r := m.own.root(); r == o.own.root() {
		m.lastHit, m.alone, m.others = at, 0, r.runs
		if o.standing > m.standing {
			m.delay = delay
		}
		return true
	}
	if m.standing == Named || m.standing == Reader && o.standing == Publisher && delay < -ahead {
		return false
	}
	i := slices.IndexFunc(m.rivals, func(v rival) bool { return v.m == o })
	if i < 0 {
		m.rivals = slices.DeleteFunc(m.rivals, func(v rival) bool { return at-v.last > rivalAge })
		if len(m.rivals) >= maxRivals {
			return false
		}
		m.rivals = append(m.rivals, rival{m: o, first: at, rebase: rebase})
		i = len(m.rivals) - 1
	}
	v := &m.rivals[i]
	if far(rebase-v.rebase) > tolerance {
		*v = rival{m: o, first: at, rebase: rebase} // another showing, or its clock was set
	}
	v.hits++
	v.last, v.delay = at, delay
	return false
}

// sure are the rivals that are believed to be of the member's own stream, one of
// each stream, the best first.
func (m *Member) sure(now int64) []rival {
	var out []rival
	for _, v := range m.rivals {
		r := v.root()
		// Only what can tell more gives a name; among readers, the one that came first.
		worse := r.standing < m.standing || r.standing == m.standing && (m.standing != Reader || r.number > m.own.number)
		if v.hits >= enough && v.last-v.first >= over && now-v.last <= rivalAge && !worse && r != m.own.root() {
			out = append(out, v)
		}
	}
	sorting.StableBy(out, func(a, b rival) int {
		x, y := a.root(), b.root()
		if x.standing != y.standing {
			return cmp.Compare(y.standing, x.standing)
		}
		if x.standing == Reader {
			return cmp.Compare(x.number, y.number)
		}
		return cmp.Compare(far(a.delay), far(b.delay))
	})
	kept := out[:0]
	for _, v := range out {
		if !slices.ContainsFunc(kept, func(k rival) bool { return k.root() == v.root() }) {
			kept = append(kept, v)
		}
	}
	return kept
}

func far(d int64) int64 { return max(d, -d) }

// alike is how many of those that are sure can't be told apart: they are as good as
// the best. Readers whose stream nothing named are not told apart at all.
func alike(s []rival) int {
	n := 0
	for i, v := range s {
		if i == 0 || v.root().standing == s[0].root().standing && v.root().standing != Reader && far(v.delay)-far(s[0].delay) < nearer {
			n++
		}
	}
	return n
}

// judge names a member after another, or takes that back.
func (m *Member) judge(now int64) {
	if m.standing == Named {
		return
	}
	root := m.own.root()
	if root != m.own && m.alone >= least && root.runs-m.others-m.alone >= least {
		m.own.same, m.runs, m.matched, m.alone = nil, 0, 0, 0
		root = m.own
	}
	s := m.sure(now)
	if alike(s) != 1 {
		return
	}
	best := s[0].root()
	if root != m.own && (root.standing > best.standing || root.standing == best.standing && m.lastHit > s[0].first) {
		return // what it is known as still holds
	}
	if m.from != "" && best.publisher == "" {
		best.publisher = m.from
	}
	m.own.same = best
	m.lastHit, m.delay = s[0].last, s[0].delay
	m.runs, m.matched, m.alone, m.others = s[0].hits, s[0].hits, 0, best.runs
	m.rivals = nil
}

// ambiguous is how many streams have a member's frames where that is why it has no
// name; 0 else.
func (m *Member) ambiguous(now int64) int {
	if n := alike(m.sure(now)); n > 1 && m.own.root().standing != Named {
		return n
	}
	return 0
}

// remember adds a place to the index, in the stead of an older one of the same
// member, or of one that can tell less.
func (c *Crowd) remember(h uint64, p place) {
	list := c.runs[h]
	worst := 0
	for i := range list {
		if list[i].m == p.m {
			list[i] = p
			return
		}
		if list[i].m.own.root().standing < list[worst].m.own.root().standing {
			worst = i
		}
	}
	switch {
	case len(list) < perRun:
		c.runs[h] = append(list, p)
	case list[worst].m.own.root().standing < p.m.own.root().standing:
		list[worst] = p
	}
}

// forget takes a member's run out of the index.
func (c *Crowd) forget(h uint64, m *Member) {
	list := c.runs[h]
	for i := range list {
		if list[i].m == m {
			if len(list) == 1 {
				delete(c.runs, h)
			} else {
				c.runs[h] = slices.Delete(list, i, i+1)
			}
			return
		}
	}
}
