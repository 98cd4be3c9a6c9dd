package pcap

// turn is a request and its answer: the first data of the client after an answer, to
// the last data of the server before the next.
type turn struct {
	asked     int64 // when the request's first byte came; 0: none is open
	answering int64 // when the answer's first came; 0: it has not
	answered  int64 // its last
}

// turned takes a segment with new data.
func (c *conn) turned(a *analysis, s *segment, side int) {
	t := &c.turn
	if side == c.server() {
		if t.asked != 0 {
			if t.answering == 0 {
				t.answering = s.at
			}
			t.answered = s.at
		}
		return
	}
	if t.answering != 0 {
		c.endTurn(a)
	}
	if t.asked == 0 {
		t.asked = s.at
	}
}

// endTurn counts a turn that was answered.
func (c *conn) endTurn(a *analysis) {
	t := &c.turn
	if t.asked != 0 && t.answering != 0 {
		a.turned(c, t)
	}
	*t = turn{}
}
