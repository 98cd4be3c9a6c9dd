package flv

// Clock counts 32-bit milliseconds on, over their wrap each 49.7 days. Audio and
// video of a stream share one.
type Clock struct {
	last  uint32
	total int64
	set   bool
}

// NS returns a timestamp as nanoseconds since the wrap before the first one. A
// timestamp may go back, by less than half a turn.
func (c *Clock) NS(stamp uint32) int64 {
	if !c.set {
		c.total, c.set = int64(stamp), true
	} else {
		c.total += int64(int32(stamp - c.last))
	}
	c.last = stamp
	return c.total * 1e6
}
