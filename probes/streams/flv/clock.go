package flv

// Clock counts 32-bit milliseconds on, over their wrap each 49.7 days, and those of
// senders that use 31 bits only (ffmpeg's FLV muxer), each 24.8 days. Audio and video of
// a stream share one.
type Clock struct {
	last  uint32
	total int64
	set   bool
	short bool // it wrapped at 31 bits
}

// nearWrap is how near to the wrap of 31 bits two timestamps must be to lie on its two
// sides: anything else is a jump.
const nearWrap = 60_000

// NS returns a timestamp as nanoseconds since the wrap before the first one. A
// timestamp may go back, by less than half a turn.
func (c *Clock) NS(stamp uint32) int64 {
	switch {
	case !c.set:
		c.total, c.set = int64(stamp), true
	case before31(c.last) && after31(stamp):
		c.short = true
		c.total += int64(stamp) + 1<<31 - int64(c.last)
	case c.short && after31(c.last) && before31(stamp): // the other track's, from before it
		c.total -= int64(c.last) + 1<<31 - int64(stamp)
	default:
		c.short = c.short && stamp < 1<<31
		c.total += int64(int32(stamp - c.last))
	}
	c.last = stamp
	return c.total * 1e6
}

// before31 and after31 tell on which side of the wrap of 31 bits a timestamp is.
func before31(stamp uint32) bool { return stamp < 1<<31 && stamp >= 1<<31-nearWrap }
func after31(stamp uint32) bool  { return stamp < nearWrap }
