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
}

// at gives a line's time, Unix ns, never before the line's before; 0 where no
// line had a time yet.
func (c *clock) at(l *Line) int64 {
	t := c.now
	switch l.Style {
	case Epoch:
		t = l.Stamp
	case TimeOfDay:
		if l.Stamp < c.last-day/2 { // past midnight
			c.days++
		}
		c.last = l.Stamp
		t = c.midnight + c.days*day + l.Stamp
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
