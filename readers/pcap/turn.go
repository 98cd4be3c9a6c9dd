package pcap

import "snag/recording"

// turn is a request and its answer: the first data of the client after an answer, to
// the last data of the server before the next.
type turn struct {
	asked     int64  // when the request's first byte came; 0: none is open
	said      int64  // when its last byte came so far
	heard     int64  // when the server had acknowledged all of it; 0: it has not
	answering int64  // when the answer's first came; 0: it has not
	answered  int64  // its last
	opens     opener // what the request begins with
	goesOn    bool   // after a while the client sent more, though no answer had come: it waits for none
}

// turned takes a segment with new data.
func (c *conn) turned(a *analysis, s *segment, side int) {
	t := &c.turn
	if side == c.server() {
		if t.asked != 0 {
			if t.answering == 0 {
				t.answering = s.at
				if c.silence.ends(t, s.at, false) {
					c.track.waited(t.asked)
				}
			}
			t.answered = s.at
		}
		c.silence.spoke = true
		return
	}
	if s.opens == farewell {
		c.leaves = true
		return // it asks for nothing
	}
	if t.answering != 0 {
		c.endTurn(a)
	}
	switch {
	case t.asked == 0:
		t.asked, t.opens = s.at, s.opens
	case t.heard != 0 && s.at-t.said >= second:
		t.goesOn = true
	}
	t.said, t.heard = s.at, 0
}

// heard notes when the server had acknowledged a request: what it has not answered then
// waits for a program, and not for the network.
func (c *conn) heard(s *segment, side int) {
	t := &c.turn
	if t.asked == 0 || t.heard != 0 || side != c.server() {
		return
	}
	if up := &c.half[1-side]; int32(up.next-up.una) <= 0 { // perhaps with its FIN
		t.heard = s.at
	}
}

// saysAll reports whether a FIN of the client belongs to its request: that was all it has to say, and
// it still waits for the answer.
func (t *turn) saysAll(finAt int64) bool {
	return t.opens != unknownOpener && finAt-t.said < saysAllWithin
}

// saysAllWithin is how soon after its request such a FIN comes.
const saysAllWithin = second / 10

// endTurn counts a turn that was answered.
func (c *conn) endTurn(a *analysis) {
	t := &c.turn
	if t.asked != 0 && t.answering != 0 {
		a.turned(c, t)
	}
	*t = turn{}
}

// unanswered ends a turn that has no answer when the connection leaves the table. now is
// the capture's last packet.
func (c *conn) unanswered(now int64, why ending) {
	t := &c.turn
	if t.asked == 0 || t.answering != 0 || c.leaves {
		return
	}
	until := now
	if why != endCapture {
		until = c.last
	}
	if up := &c.half[1-c.server()]; t.heard == 0 && int32(up.next-up.una) > 0 && up.again.at < t.said {
		return // nobody acknowledged it, and it was not sent again: the capture has not what came next
	}
	for side, at := range []int64{c.half[0].finAt, c.half[1].finAt, c.done} {
		if at != 0 && (side != 1-c.server() || !t.saysAll(at)) {
			until = min(until, at)
		}
	}
	if c.silence.ends(t, until, true) {
		c.track.waited(t.asked)
	}
}

// silence is what the requests of a connection waited for the first byte of their answers.
type silence struct {
	asked  uint64
	long   uint64 // that waited longSilence and more
	sum    int64  // that these waited
	all    int64  // that all that were answered waited
	most   int64  // the longest of those
	quick  uint64 // answered sooner
	others int64  // that these waited
	worst  int64  // the longest of all
	from   int64  // when the request of the longest had been sent whole
	heard  int64  // when it had been acknowledged whole; 0: it never was
	opens  opener // what it begins with
	open   bool   // it got no answer at all
	first  bool   // until then the server had said nothing
	spoke  bool   // the server has sent data
}

// longSilence is what is told of singly.
const longSilence = second

// ends takes a request whose wait is over at a time; open: it was not answered. longest reports that none
// waited longer.
func (q *silence) ends(t *turn, at int64, open bool) (longest bool) {
	d := at - t.said
	if open && (d < longSilence || t.goesOn) {
		return false // words that nobody needs to answer: a farewell, a report
	}
	q.asked++
	if !open {
		q.all, q.most = q.all+max(d, 0), max(q.most, d)
	}
	if d < longSilence || t.goesOn {
		q.quick, q.others = q.quick+1, q.others+max(d, 0)
		return false
	}
	q.long++
	q.sum += d
	if d <= q.worst {
		return false
	}
	q.worst, q.from, q.heard, q.opens, q.open, q.first = d, t.said, t.heard, t.opens, open, !q.spoke
	return true
}

// told fills the columns of a flow's row.
func (q *silence) told(row *recording.Flow) {
	row.Asked, row.Silent, row.SilentSum, row.WaitSum, row.WaitMax = q.asked, q.long, seconds(q.sum), seconds(q.all), seconds(q.most)
	if q.long == 0 {
		return
	}
	s := &recording.Silence{After: recording.Time(q.from).Sub(row.T).Seconds(), Length: seconds(q.worst), Begins: openers[q.opens], Open: q.open, First: q.first}
	if q.heard != 0 {
		s.Acked = some(q.heard - q.from)
	}
	if q.quick > 0 {
		s.Usual = some(q.others / int64(q.quick))
	}
	row.Silence = s
}
