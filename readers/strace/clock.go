package strace

import "time"

const day = int64(24 * time.Hour)

// clock puts the times of lines on the wall clock.
type clock struct {
	// midnight is that of the first line's day, Unix ns: of -t and -tt, which say no
	// day. begin is where a trace begins that has no wall clock at all (-r).
	midnight, begin int64
	now             int64 // of the last line, Unix ns; 0: none had a time
	days            int64
	last            int64 // time of day of the last line
	style           Style
	back            int // lines whose time lay before the line's before
	// shift is added to the times of a session that was put behind one that is later in time; moved
	// counts such sessions.
	shift int64
	moved int
}

// session begins with a line: all that was traced before has ended. Sessions that were put behind each
// other are of any times: none begins before the one above it in the file ended.
func (c *clock) session(l *Line) {
	var t int64
	switch l.Style {
	case Epoch:
		t = l.Stamp
	case TimeOfDay:
		if l.Stamp < c.last-day/2 {
			c.days++
		}
		c.last = l.Stamp
		t = c.midnight + c.days*day + l.Stamp
	default:
		return
	}
	if c.shift = max(0, c.now-t); c.shift > 0 {
		c.moved++
	}
}

// at gives a line's time, Unix ns, never before the line's before; 0 where no
// line had a time yet.
func (c *clock) at(l *Line) int64 {
	t := c.now
	switch l.Style {
	case Epoch:
		t = l.Stamp + c.shift
	case TimeOfDay:
		if l.Stamp < c.last-day/2 { // past midnight
			c.days++
		}
		c.last = l.Stamp
		t = c.midnight + c.days*day + l.Stamp + c.shift
	case Relative:
		if c.now == 0 {
			t = c.begin
		}
		t += l.Stamp
	default:
		if c.now == 0 {
			c.now = c.begin
		}
		return c.now
	}
	c.style = l.Style
	if t < c.now { // a wall clock that was set back, or lines of threads out of order
		c.back++
		return c.now
	}
	c.now = t
	return t
}
