package tcp

import "snag/internal/packet"

// half is one direction of a connection.
type half struct {
	to     Handler
	begun  bool // next is known
	start  bool // from the SYN on
	closed bool // nothing more is handed on
	fin    bool
	isn    uint32
	finSeq uint32
	next   uint32 // sequence number of the next byte to hand on
	ack    uint32 // the highest that the peer acknowledged beyond next
	ackAt  int64  // since when; 0: it did not
	heldAt int64  // since when the first of held waits
	held   []segment
	bytes  int // in held
	far    uint32
	strays int
}

// segment is what came before its turn. b may be shorter than the wire's n bytes
// where the capture cut it off.
type segment struct {
	seq uint32
	n   int
	b   []byte
}

// distance is b − a on the circle of sequence numbers (RFC 9293, section 3.4).
func distance(a, b uint32) int { return int(int32(b - a)) }

func (h *half) inWindow(seq uint32) bool {
	if !h.begun {
		return true
	}
	d := distance(h.next, seq)
	return d >= -1 && d < window
}

// acked notes that the peer has all bytes before seq.
func (h *half) acked(at int64, seq uint32) {
	if !h.begun || h.closed {
		return
	}
	if d := distance(h.next, seq); d <= 0 || d >= window {
		return
	}
	if h.ackAt == 0 {
		h.ackAt, h.ack = at, seq
	} else if distance(h.ack, seq) > 0 {
		h.ack = seq
	}
}

func (h *half) segment(a *Assembler, at int64, p *packet.Packet) {
	if h.closed {
		return
	}
	seq := p.Seq
	if p.Flags&packet.SYN != 0 {
		seq++ // the SYN has a number of its own; data may come with it (RFC 7413)
		if !h.begun {
			h.begun, h.start, h.isn, h.next = true, true, p.Seq, seq
		}
	}
	if p.Flags&packet.FIN != 0 {
		h.fin, h.finSeq = true, seq+uint32(p.Len)
	}
	if p.Len > 0 {
		a.Stats.Segments++
		if !h.begun {
			h.begun, h.next = true, seq
		}
		h.place(a, at, segment{seq, p.Len, p.Payload})
	}
	h.flush(a, at)
}

// place hands a segment on, or holds it until its turn.
func (h *half) place(a *Assembler, at int64, s segment) {
	d := distance(h.next, s.seq)
	if d >= window || d <= -window {
		h.stray(a, at, s)
		return
	}
	h.strays = 0
	if d+s.n <= 0 {
		a.Stats.Repeated++
		return
	}
	if d > 0 {
		a.Stats.Disorder++
		h.hold(a, at, s)
		return
	}
	h.deliver(a, at, s)
	h.release(a, at)
}

// stray judges a segment from nowhere near: two in a row that follow each other
// are the connection's present, after a capture that missed gigabytes.
func (h *half) stray(a *Assembler, at int64, s segment) {
	if h.strays > 0 && s.seq == h.far {
		h.drop(a)
		h.next, h.strays, h.ackAt, h.fin = s.seq, 0, 0, false
		if !h.to.Hole(at, 0) {
			h.quit(a)
			return
		}
		h.deliver(a, at, s)
		return
	}
	h.strays, h.far = 1, s.seq+uint32(s.n)
}

// deliver hands on what is new in a segment that begins at or before next.
func (h *half) deliver(a *Assembler, at int64, s segment) {
	if h.closed {
		return
	}
	old := distance(s.seq, h.next)
	fresh := s.n - old
	h.next += uint32(fresh)
	if h.ackAt != 0 && distance(h.next, h.ack) <= 0 {
		h.ackAt = 0
	}
	var b []byte
	if old < len(s.b) {
		b = s.b[old:]
	}
	if len(b) > fresh {
		b = b[:fresh]
	}
	if len(b) > 0 && !h.to.Data(at, b) {
		h.quit(a)
		return
	}
	if cut := fresh - len(b); cut > 0 { // by the capture's snap length
		a.Stats.Lost += uint64(cut)
		if !h.to.Hole(at, int64(cut)) {
			h.quit(a)
		}
	}
}

// flush gives up on bytes that the peer has and the capture does not, and closes
// the direction after its last byte.
func (h *half) flush(a *Assembler, at int64) {
	if h.closed || !h.begun {
		return
	}
	if h.ackAt != 0 && (at-h.ackAt > int64(grace) || h.bytes > MaxHeld/2) {
		h.skip(a, at, h.ack)
	}
	if h.fin && h.next == h.finSeq {
		h.finish(a, at, "FIN")
	}
}

// flushAlone gives up on bytes that nobody can be seen to acknowledge.
func (h *half) flushAlone(a *Assembler, at int64) {
	if !h.closed && len(h.held) > 0 && at-h.heldAt > int64(oneWay) {
		h.skip(a, at, h.held[0].seq)
	}
}

// skip tells a hole up to seq, or to the first held segment before it.
func (h *half) skip(a *Assembler, at int64, seq uint32) {
	for !h.closed && distance(h.next, seq) > 0 {
		to := seq
		if h.fin && distance(h.finSeq, to) > 0 {
			to = h.finSeq // the FIN's own number is no byte
		}
		if len(h.held) > 0 && distance(h.held[0].seq, to) > 0 {
			to = h.held[0].seq
		}
		n := distance(h.next, to)
		if n <= 0 {
			break
		}
		h.next = to
		a.Stats.Lost += uint64(n)
		if !h.to.Hole(at, int64(n)) {
			h.quit(a)
			return
		}
		h.release(a, at)
	}
	h.ackAt = 0
}

// finish hands on what is held, holes told, and closes the direction.
func (h *half) finish(a *Assembler, at int64, why string) {
	if h.closed {
		return
	}
	if h.fin && h.next == h.finSeq {
		h.drop(a) // nothing comes after a FIN
	}
	h.fin = false // it may contradict what is held
	for !h.closed && len(h.held) > 0 {
		h.skip(a, at, h.held[0].seq)
		h.release(a, at)
	}
	if !h.closed {
		h.to.Closed(at, why)
	}
	h.quit(a)
}

func (h *half) quit(a *Assembler) {
	h.closed = true
	h.drop(a)
}
