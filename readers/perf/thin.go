package perf

import (
	"cmp"
	"slices"
)

// mostNumbered stacks have a number, those included of which only the function that ran
// is told.
const mostNumbered = 2 * mostStacks

// thin makes room for further stacks: of the half that has the fewest samples only the
// function that ran is told from now on. Files that are sorted by name (folded stacks)
// have their heaviest stacks anywhere.
func (t *tally) thin() {
	light := make([]*stack, 0, len(t.stacks))
	for _, n := range t.stacks {
		light = append(light, t.order[n-1])
	}
	slices.SortFunc(light, func(a, b *stack) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(b.id, a.id)) })
	light = light[:len(light)/2]
	for _, s := range light {
		delete(t.stacks, s.hash)
		s.light = true
		s.frames = append(s.frames[:1:1], others)
	}
	t.thinned++
	t.moveRows()
	t.full = len(t.counted) > mostRowsEach*7/8 // it is of threads that there are so many
	for _, s := range light {
		if !s.pinned && !t.pinned {
			t.order[s.id-1] = nil
			t.free = append(t.free, int32(s.id))
		}
	}
}

// moveRows counts what was counted in this cell by light stacks with the short ones.
func (t *tally) moveRows() {
	rows := slices.Clone(t.counted)
	t.counted = t.counted[:0]
	clear(t.rows)
	for _, c := range rows {
		if c.stack > 0 && t.order[c.stack-1].light {
			from := t.order[c.stack-1]
			from.n -= c.n
			c.stack = 0
			if to := t.shortOf(from.path, from.frames[0]); to != nil {
				to.n += c.n
				c.stack = int32(to.id)
			}
		}
		i, ok := t.rows[c.rowKey]
		if !ok {
			t.rows[c.rowKey] = int32(len(t.counted))
			t.counted = append(t.counted, c)
			continue
		}
		t.counted[i].n += c.n
		t.counted[i].weight += c.weight
	}
}

// room is the stack to count a sample by, where there are too many rows: those of light
// stacks become fewer.
func (t *tally) room(st *stack) *stack {
	if t.full {
		return st
	}
	t.thin()
	return t.shortFor(st)
}

// shortFor is the stack that a light one is counted by.
func (t *tally) shortFor(st *stack) *stack {
	if !st.light {
		return st
	}
	if short := t.shortOf(st.path, st.frames[0]); short != nil {
		return short
	}
	return &stack{}
}

// nobodys is what a sample is counted by whose thread finds no room: the function that
// ran and the thread's name, or one of the two, or nothing but its event.
func (t *tally) nobodys(s *sample, st *stack) (*stack, rowKey) {
	short := &stack{}
	if st.id > 0 {
		short = cmp.Or(t.shortOf(st.path, st.frames[0]), short)
	}
	for _, k := range []rowKey{
		{stack: int32(short.id), comm: int32(s.comm), event: s.event.index},
		{stack: int32(short.id), event: s.event.index},
	} {
		if _, ok := t.rows[k]; ok || len(t.counted) < mostRowsEach+mostStacks {
			return short, k
		}
	}
	return &stack{}, rowKey{event: s.event.index}
}
