package sides

// mostQueued turns of a connection wait for the other capture.
const mostQueued = 64

// pair is one connection that is on both captures. side 0 is the first file.
type pair struct {
	views    [2]*view
	queues   [2][]*turn
	connects [2]*turn
	// alone counts turns that only one capture has, or has whole.
	alone  uint64
	joined func(pair *pair, t [2]*turn)
}

// newPair begins the joining of one connection.
func newPair(bases [2][2]uint32, midstream [2]bool, joined func(*pair, [2]*turn)) *pair {
	p := &pair{joined: joined}
	for side := range p.views {
		p.views[side] = newView(bases[side], midstream[side], func(t *turn) { p.take(side, t) })
	}
	return p
}

func (p *pair) take(side int, t *turn) {
	if t.connect {
		p.connects[side] = t
		if a, b := p.connects[0], p.connects[1]; a != nil && b != nil {
			p.joined(p, [2]*turn{a, b})
			p.connects = [2]*turn{}
		}
		return
	}
	p.queues[side] = append(p.queues[side], t)
	p.match()
	if len(p.queues[side]) > mostQueued {
		p.drop(side)
	}
}

// drop gives up a turn that the other capture does not have.
func (p *pair) drop(side int) {
	p.alone++
	p.queues[side] = p.queues[side][1:]
}

// match joins turns that end at the same bytes. Where one capture cuts finer than
// the other (requests that overlap with answers, segments that one of them has not),
// its turns are joined until both agree.
func (p *pair) match() {
	for len(p.queues[0]) > 0 && len(p.queues[1]) > 0 {
		a, b := p.queues[0][0], p.queues[1][0]
		var finer int
		switch {
		case apart(a, b):
			p.drop(0)
			continue
		case apart(b, a):
			p.drop(1)
			continue
		case a.bytes[request].to != b.bytes[request].to:
			finer = side(a.bytes[request].to < b.bytes[request].to)
		case a.bytes[answer].to != b.bytes[answer].to:
			finer = side(a.bytes[answer].to < b.bytes[answer].to)
		default:
			p.queues[0], p.queues[1] = p.queues[0][1:], p.queues[1][1:]
			p.give(a, b)
			continue
		}
		q := p.queues[finer]
		if len(q) < 2 {
			return // the next one is not there yet
		}
		q[1] = joinTurns(q[0], q[1])
		p.queues[finer] = q[1:]
	}
}

func side(first bool) int {
	if first {
		return 0
	}
	return 1
}

func joinTurns(a, b *turn) *turn {
	a.join(b)
	return a
}

// apart: a ends before b begins.
func apart(a, b *turn) bool {
	return a.bytes[request].to <= b.bytes[request].from && a.bytes[answer].to <= b.bytes[answer].from &&
		(a.bytes[request].to < b.bytes[request].to || a.bytes[answer].to < b.bytes[answer].to)
}

// give hands on two views of one turn, where both saw it whole.
func (p *pair) give(a, b *turn) {
	if a.partial || b.partial || a.push && b.push {
		if a.partial || b.partial {
			p.alone++
		}
		return
	}
	p.joined(p, [2]*turn{a, b})
}

// end gives out all that is left.
func (p *pair) end(at [2]int64) {
	for side, v := range p.views {
		v.over(open, at[side])
	}
	if a, b := p.queues[0], p.queues[1]; len(a) > 0 && len(b) > 0 && a[0].bytes[request] == b[0].bytes[request] {
		// It broke off, with more of the answer on the one side than on the other.
		p.queues[0], p.queues[1] = a[1:], b[1:]
		p.give(a[0], b[0])
	}
	for side, q := range p.queues {
		p.alone += uint64(len(q))
		p.queues[side] = nil
	}
}
