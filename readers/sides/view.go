package sides

import (
	"time"

	"snag/internal/packet"
)

const (
	// pushPause: what a server sends after so long a pause, while it knew that all
	// was received, belongs to the answer only where its head said that more would
	// come; else it is news that nobody asked for (a push, the next picture).
	pushPause = int64(200 * time.Millisecond)
	// longGap is the least gap between bytes that counts as one: what a busy machine
	// makes by itself is shorter.
	longGap = int64(100 * time.Millisecond)
	// settled: after so long nothing more of a turn comes: the longest that a
	// duplicate was seen to be late on the networks of today.
	settled = int64(300 * time.Millisecond)
	// mostWaiting turns of a connection wait for what is missing of them.
	mostWaiting = 16
)

// view is one connection as one capture shows it: segments come in, turns go out.
type view struct {
	dirs    [2]half
	cur     *turn
	waiting []*turn // over, and perhaps not yet settled
	emit    func(*turn)
	new     []span

	midstream   bool  // it was there before the capture
	established int64 // when the handshake's last ACK was seen
	syn, synAck [2]int64
	syns        [2]int // SYNs and SYN-ACKs
	connected   bool   // the handshake's turn is out
	first       bool   // a turn was begun
	ended       ending
}

// newView begins a view. base are the sequence numbers of the bytes 0, where they
// are known: those behind the SYNs, or any that the other capture's are matched to.
func newView(base [2]uint32, midstream bool, emit func(*turn)) *view {
	v := &view{emit: emit, midstream: midstream, ended: open}
	for dir := range v.dirs {
		h := &v.dirs[dir]
		h.base, h.based, h.scale = base[dir], true, -1
		if !midstream {
			h.seen.started = true
		}
	}
	return v
}

// add takes the next segment, sent in direction dir.
func (v *view) add(s *Segment, dir int) {
	if v.ended == reset {
		return
	}
	d, o := &v.dirs[dir], &v.dirs[1-dir]
	if s.has(packet.SYN) {
		v.handshake(s, dir)
		return
	}
	if s.has(packet.RST) {
		v.over(reset, s.T)
		return
	}
	ack := int64(0)
	if s.has(packet.ACK) {
		ack = o.offset(s.Ack)
		if !o.seen.started {
			o.seen.started, o.seen.next, o.high, o.acked = true, ack, ack, ack
		}
		o.acknowledged(ack, s.T, d.window(s.Window))
		ack = min(ack, o.high)
		if dir == request && v.established == 0 {
			v.established = s.T
			v.handshaken()
		}
	}
	at := d.offset(s.Seq)
	if s.Len > 0 {
		v.data(s, dir, span{at, at + int64(s.Len)}, ack)
	}
	if s.has(packet.FIN) {
		d.fin = true
		if v.ended == open {
			v.ended = closed
		}
	}
	v.release(s.T, false)
}

// window is a window that this direction announced, in bytes; -1: not known.
func (h *half) window(raw uint16) int64 {
	if raw == 0 {
		return 0
	}
	if h.scale < 0 {
		return -1
	}
	return int64(raw) << h.scale
}

// handshake takes a SYN or its answer.
func (v *view) handshake(s *Segment, dir int) {
	d, o := &v.dirs[dir], &v.dirs[1-dir]
	d.scale = s.Scale
	if dir == answer && (s.Scale < 0 || o.scale < 0) { // it holds only if both said it (RFC 7323, 2.2)
		d.scale, o.scale = 0, 0
	}
	o.mss = int64(s.MSS)
	if v.syns[dir] == 0 {
		v.syn[dir] = s.T
	}
	v.synAck[dir] = s.T
	v.syns[dir]++
}

// handshaken gives the handshake out as a turn of its own.
func (v *view) handshaken() {
	if v.connected || v.syns[request] == 0 || v.syns[answer] == 0 {
		return
	}
	v.connected = true
	t := &turn{connect: true, n: 1, parts: 1, name: "connect"}
	t.first, t.last = v.syn, v.syn // what counts is the first of each
	t.repeats = [2]int{v.syns[request] - 1, v.syns[answer] - 1}
	t.between = max(0, t.first[answer]-t.last[request])
	v.emit(t)
}

// data takes bytes; ack is how much of the other direction their sender had.
func (v *view) data(s *Segment, dir int, b span, ack int64) {
	d := &v.dirs[dir]
	v.new = d.seen.add(b, v.new)
	fresh := int64(0)
	for _, n := range v.new {
		fresh += n.to - n.from
	}
	if again := b.to - b.from - fresh; again > 0 {
		v.repeated(dir, b, again, fresh == 0)
	}
	if fresh == 0 {
		return
	}
	begins := v.place(s, dir, b, ack)
	held, shut := d.pause(s.T)
	if t := v.cur; !begins {
		if gap := s.T - d.newAt; d.newAt != 0 && gap >= longGap {
			t.quiet[dir] += gap
		}
		if b.to > d.high {
			t.held[dir] += held
			t.shut[dir] += shut
			if dir == answer && t.http.awaited() && held >= pushPause {
				t.stood += held
			}
		}
	}
	d.newAt = max(d.newAt, s.T)
	if b.to > d.high {
		d.high, d.sentAt = b.to, s.T
	}
	for _, n := range v.new {
		v.stamp(dir, n, s.T)
	}
	v.read(s, dir, b, begins)
}

// place finds the turn that bytes belong to, and begins the next where they do not
// belong to this one; begins reports that they are its direction's first in it.
func (v *view) place(s *Segment, dir int, b span, ack int64) (begins bool) {
	d, o := &v.dirs[dir], &v.dirs[1-dir]
	if v.cur == nil {
		v.begin(s, dir, b, ack)
		return true
	}
	t := v.cur
	mine := &t.bytes[dir]
	switch {
	case b.to <= mine.to: // it fills a gap
		return false
	case dir == request && t.length(answer) > 0 && b.from >= mine.to:
		// The next request. Its sender had the answer up to ack.
		t.bytes[answer].to = max(t.bytes[answer].to, ack)
		v.finish(s.T)
		v.begin(s, dir, span{mine.to, b.to}, ack)
		return true
	case dir == answer:
		t.bytes[request].to = max(t.bytes[request].to, ack)
		if t.length(answer) > 0 && !t.http.awaited() && d.acked >= d.high && b.from >= d.high && s.T-max(d.sentAt, d.wholeAt) >= pushPause {
			paused := s.T - max(d.sentAt, d.wholeAt)
			v.finish(s.T)
			v.begin(s, dir, b, ack)
			v.cur.push = true
			v.cur.held[answer] = paused
			return true
		}
	}
	begins = t.length(dir) == 0
	mine.to = b.to
	if dir == request && o.high > t.bytes[answer].to {
		t.bytes[answer].to = o.high
	}
	return begins
}

// begin begins a turn with bytes of a direction.
func (v *view) begin(s *Segment, dir int, b span, ack int64) {
	t := &turn{partial: v.midstream && !v.first}
	t.bytes[dir] = b
	from := v.dirs[1-dir].high
	t.bytes[1-dir] = span{from, max(from, ack)}
	if dir == answer && !v.first && v.established != 0 {
		t.greeting, t.n, t.name = true, 1, "greeting"
		t.first[request], t.last[request] = v.established, v.established
	}
	v.first = true
	v.cur = t
}

// finish ends the turn that goes on.
func (v *view) finish(at int64) {
	if v.cur == nil {
		return
	}
	v.cur.closedAt, v.cur.end = at, v.ended
	v.waiting = append(v.waiting, v.cur)
	v.cur = nil
}

// stamp gives new bytes to the turns they lie in.
func (v *view) stamp(dir int, n span, at int64) {
	for _, t := range v.waiting {
		if n.from < t.bytes[dir].to && n.to > t.bytes[dir].from {
			t.stamp(dir, at)
		}
	}
	if t := v.cur; n.from < t.bytes[dir].to && n.to > t.bytes[dir].from {
		t.stamp(dir, at)
	}
}

// repeated notes bytes that came again.
func (v *view) repeated(dir int, b span, again int64, all bool) {
	note := func(t *turn) bool {
		if b.from >= t.bytes[dir].to || b.to <= t.bytes[dir].from {
			return false
		}
		t.again[dir] += again
		if all {
			t.repeats[dir]++
		}
		return true
	}
	for _, t := range v.waiting {
		if note(t) {
			return
		}
	}
	if v.cur != nil {
		note(v.cur)
	}
}

// read looks at the payload for what tells the name and the length.
func (v *view) read(s *Segment, dir int, b span, begins bool) {
	t := v.cur
	if dir == request {
		if len(s.Payload) > 0 && b.to == t.bytes[request].to {
			name, n := requestName(s.Payload)
			if t.name == "" || begins {
				t.name = name
			}
			t.n += n
		}
		return
	}
	if begins && !t.push {
		t.http.begins(s.Payload, b.from, t.name)
	}
	t.http.goesOn(s.Payload, len(s.Payload) == s.Len, v.dirs[answer].seen.next)
}

// release gives out turns that are settled, the oldest first; all of them at the end.
func (v *view) release(now int64, all bool) {
	for len(v.waiting) > 0 {
		t := v.waiting[0]
		if !all && len(v.waiting) <= mostWaiting && now-t.closedAt < settled {
			return
		}
		for dir := range t.bytes {
			seen := &v.dirs[dir].seen
			t.hole[dir] = seen.missing(t.bytes[dir])
			seen.forget(t.bytes[dir].to)
		}
		t.settle()
		v.waiting = v.waiting[1:]
		v.emit(t)
	}
}

// over ends the view: the connection was reset, or the capture has no more of it.
func (v *view) over(how ending, at int64) {
	if how == reset || v.ended == open {
		v.ended = how
	}
	v.handshaken()
	if !v.connected && v.syns[request] > 0 { // nobody answered
		v.connected = true
		t := &turn{connect: true, n: 1, parts: 1, name: "connect", end: v.ended, closedAt: at}
		t.first, t.last = v.syn, v.syn
		t.repeats[request] = v.syns[request] - 1
		v.emit(t)
	}
	v.finish(at)
	v.release(at, true)
}
