package tcp

// hold keeps a segment until the bytes before it came. Where there is no room, the
// bytes before the first held one are given up.
func (h *half) hold(a *Assembler, at int64, s segment) {
	if h.bytes+len(s.b) > MaxHeld || a.held+len(s.b) > MaxHeldAll || len(h.held) >= MaxSegs {
		h.skip(a, at, s.seq)
		if d := distance(h.next, s.seq); h.closed || d > 0 || d+s.n <= 0 {
			return
		}
		h.deliver(a, at, s)
		h.release(a, at)
		return
	}
	i := len(h.held)
	for i > 0 && distance(s.seq, h.held[i-1].seq) > 0 {
		i--
	}
	if i > 0 && covers(h.held[i-1], s) {
		a.Stats.Repeated++
		return
	}
	if len(h.held) == 0 {
		h.heldAt = at
	}
	keep := a.copied(s)
	h.held = append(h.held, segment{})
	copy(h.held[i+1:], h.held[i:])
	h.held[i] = keep
	h.bytes += len(keep.b)
	a.held += len(keep.b)
}

func covers(have, s segment) bool {
	d := distance(have.seq, s.seq)
	return d >= 0 && d+s.n <= have.n
}

// release hands on what was held and whose turn it is.
func (h *half) release(a *Assembler, at int64) {
	for !h.closed && len(h.held) > 0 {
		s := h.held[0]
		d := distance(h.next, s.seq)
		if d > 0 {
			h.heldAt = at // another hole: it is waited for anew
			return
		}
		copy(h.held, h.held[1:])
		h.held = h.held[:len(h.held)-1]
		h.bytes -= len(s.b)
		a.held -= len(s.b)
		if d+s.n > 0 {
			h.deliver(a, at, s)
		}
		a.give(s)
	}
}

func (h *half) drop(a *Assembler) {
	for _, s := range h.held {
		a.held -= len(s.b)
		a.give(s)
	}
	h.held, h.bytes = nil, 0
}

// copied takes a segment's bytes out of the capture's memory. Buffers are used
// again: disorder comes in runs.
func (a *Assembler) copied(s segment) segment {
	var b []byte
	if n := len(a.free); n > 0 {
		b, a.free = a.free[n-1].b[:0], a.free[:n-1]
	}
	return segment{s.seq, s.n, append(b, s.b...)}
}

func (a *Assembler) give(s segment) {
	if len(a.free) < 64 && cap(s.b) <= 64<<10 {
		a.free = append(a.free, s)
	}
}
