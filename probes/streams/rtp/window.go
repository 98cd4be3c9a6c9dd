package rtp

import (
	"time"

	"snag/probes/streams/stream"
)

// Bounds of what is kept in order to put packets in order.
const (
	Span   = 64                     // packets: a packet so far ahead of a hole ends the wait for it
	Wait   = 200 * time.Millisecond // a hole is waited for so long
	recall = 512                    // packets back of which it is known whether they came
	jump   = 3000                   // RFC 3550 A.1 MAX_DROPOUT: more than that is no mere loss
)

// Mark is what of a packet's header its place is found by.
type Mark struct {
	SSRC uint32
	Seq  uint16
	TS   uint32 // in ticks of the track's clock
	At   int64  // arrival, monotonic clock, ns
}

// Counts are those of one Window since its beginning.
type Counts struct {
	Received  uint64 // that are of the stream, late ones and second copies too
	Lost      uint64 // never came within the window
	Late      uint64 // came when they had been counted as lost, or before the first
	Reordered uint64 // came out of order, within the window
	Duplicate uint64
	Restarts  uint64 // another SSRC, or a jump in the sequence that its timestamps don't bear out
}

// Tell gives the sink what was counted since told, and returns what is told by then.
func (c Counts) Tell(sink stream.Sink, told Counts) Counts {
	for _, one := range [...]struct {
		count stream.Count
		n     uint64
	}{
		{stream.PacketsLost, c.Lost - told.Lost},
		{stream.PacketsLate, c.Late - told.Late},
		{stream.PacketsReordered, c.Reordered - told.Reordered},
		{stream.PacketsDuplicate, c.Duplicate - told.Duplicate},
		{stream.Discontinuities, c.Restarts - told.Restarts},
	} {
		if one.n > 0 {
			sink.Count(one.count, one.n)
		}
	}
	return c
}

// Window puts the packets of one track in order. P is what is kept of a packet.
// A hole in the sequence is waited for up to Span packets or Wait. A packet of
// another SSRC, or far off in the sequence, is believed when the next one follows
// it (RFC 3550 A.1): then the sender has begun anew, and nothing is lost by it. A
// jump forward that the timestamps bear out (as much media time passed as wall
// time) is loss all the same, however long.
type Window[P any] struct {
	Give    func(p *P, lost int) // in order; lost: packets that are missing before it
	Keep    func(p *P)           // nil, or called before P is kept: its bytes are the caller's
	Restart func()               // the sender has begun anew; what follows is not the continuation
	Rate    uint32               // ticks per second
	Counts  Counts

	started   bool
	ssrc      uint32
	next      uint64 // the sequence number to give next, unwrapped
	highest   uint64
	last      Mark // of highest
	held      int
	gap       int   // packets lost since the last one given
	since     int64 // when the hole before next was seen
	slots     [Span]slot[P]
	seen      [recall / 64]uint64
	candidate struct {
		ok   bool
		mark Mark
		p    P
	}
}

type slot[P any] struct {
	full bool
	at   int64
	p    P
}

// Put takes a packet as it comes.
func (w *Window[P]) Put(m Mark, p P) {
	if !w.started {
		w.begin(m)
	}
	ahead, fits := w.place(m)
	if !fits {
		c := &w.candidate
		if !c.ok || c.mark.SSRC != m.SSRC || m.Seq != c.mark.Seq+1 {
			c.ok, c.mark, c.p = true, m, p
			if w.Keep != nil {
				w.Keep(&c.p)
			}
			return
		}
		w.flush()
		w.Counts.Restarts++
		w.Restart()
		first, firstP := c.mark, c.p
		w.begin(first)
		w.take(first, 0, firstP)
		ahead, _ = w.place(m)
	}
	w.candidate.ok = false
	w.take(m, ahead, p)
	w.Expire(m.At)
}

func (w *Window[P]) begin(m Mark) {
	w.started, w.ssrc = true, m.SSRC
	w.next = 1<<32 + uint64(m.Seq) // room to go back
	w.highest, w.last = w.next, m
	w.candidate.ok, w.gap = false, 0
	clear(w.seen[:])
}

// place reports how far a packet is from the highest one so far, and whether it is
// of the same course.
func (w *Window[P]) place(m Mark) (ahead int64, fits bool) {
	if m.SSRC != w.ssrc {
		return 0, false
	}
	ahead = int64(int16(m.Seq - uint16(w.highest)))
	if ahead <= jump && ahead > -recall {
		return ahead, true
	}
	// Far off. In a long loss media time goes on as the wall's does.
	media := time.Duration(int32(m.TS-w.last.TS)) * time.Second / time.Duration(max(w.Rate, 1))
	wall := time.Duration(m.At - w.last.At)
	if off := (media - wall).Abs(); media <= 0 || off > time.Second+wall/10 {
		return 0, false
	}
	return int64(m.Seq - uint16(w.highest)), true
}

func (w *Window[P]) take(m Mark, ahead int64, p P) {
	w.Counts.Received++
	n := uint64(int64(w.highest) + ahead)
	if n < w.next {
		if w.came(n) {
			w.Counts.Duplicate++
		} else {
			w.Counts.Late++
			w.mark(n, true)
		}
		return
	}
	if n < w.next+Span && w.slots[n%Span].full {
		w.Counts.Duplicate++
		return
	}
	if n < w.highest {
		w.Counts.Reordered++
	} else {
		w.highest, w.last = n, m
	}
	if n >= w.next+Span {
		w.advance(n - Span + 1)
		w.drain(m.At)
	}
	// Through its slot in any case: a parameter that is pointed at would be allocated.
	s := &w.slots[n%Span]
	s.at, s.p = m.At, p
	if n == w.next {
		w.give(s)
		w.drain(m.At)
		return
	}
	if w.held == 0 {
		w.since = m.At
	}
	w.held++
	s.full = true
	if w.Keep != nil {
		w.Keep(&s.p)
	}
}

// Expire ends the wait for holes that are older than Wait.
func (w *Window[P]) Expire(now int64) {
	for w.held > 0 && now-w.since >= int64(Wait) {
		w.skip(now)
	}
}

// Holding reports whether packets wait for others.
func (w *Window[P]) Holding() bool { return w.held > 0 }

// flush gives all that is held.
func (w *Window[P]) flush() {
	for w.held > 0 {
		w.skip(0)
	}
}

// skip gives up the hole at next.
func (w *Window[P]) skip(now int64) {
	n := w.next
	for !w.slots[n%Span].full {
		n++
	}
	w.advance(n)
	w.drain(now)
}

// advance moves next to n: what is held before it is given, what is not is lost.
func (w *Window[P]) advance(n uint64) {
	for w.next < n {
		if w.held == 0 {
			gap := n - w.next
			for i := n - min(gap, recall); i < n; i++ {
				w.mark(i, false)
			}
			w.miss(gap)
			w.next = n
			return
		}
		if s := &w.slots[w.next%Span]; s.full {
			s.full = false
			w.held--
			w.give(s)
			continue
		}
		w.mark(w.next, false)
		w.miss(1)
		w.next++
	}
}

func (w *Window[P]) miss(n uint64) {
	w.Counts.Lost += n
	w.gap += int(n)
}

// give gives the packet at next.
func (w *Window[P]) give(s *slot[P]) {
	w.mark(w.next, true)
	w.next++
	gap := w.gap
	w.gap = 0
	w.Give(&s.p, gap)
}

// drain gives what follows next without a hole.
func (w *Window[P]) drain(now int64) {
	if w.held == 0 {
		return
	}
	for s := &w.slots[w.next%Span]; s.full; s = &w.slots[w.next%Span] {
		s.full = false
		w.held--
		w.give(s)
	}
	// The next hole was seen when the first packet behind it came.
	w.since = now
	for i := range w.slots {
		if s := &w.slots[i]; w.held > 0 && s.full && s.at < w.since {
			w.since = s.at
		}
	}
}

func (w *Window[P]) came(n uint64) bool { return w.seen[n/64%(recall/64)]>>(n%64)&1 == 1 }

func (w *Window[P]) mark(n uint64, came bool) {
	word, bit := &w.seen[n/64%(recall/64)], uint64(1)<<(n%64)
	if came {
		*word |= bit
	} else {
		*word &^= bit
	}
}
