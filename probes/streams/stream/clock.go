package stream

// Clock90 counts 33-bit times of 90 kHz on beyond their wrap, 26.5 hours apart (PTS
// and DTS of MPEG systems, ISO/IEC 13818-1 2.4.3.7; HLS' timestamp of packed audio, RFC
// 8216 3.4). One is for a whole program, so that its tracks stay together.
type Clock90 struct {
	last int64 // ticks
	set  bool
}

// Ticks gives the count nearest to the last one.
func (c *Clock90) Ticks(v uint64) int64 {
	if !c.set {
		c.last, c.set = int64(v), true
		return c.last
	}
	c.last += (int64(v) - c.last) << 31 >> 31 // signed, modulo 2^33
	return c.last
}

// NS is Ticks as nanoseconds.
func (c *Clock90) NS(v uint64) int64 { return NS90(c.Ticks(v)) }

// NS90 is ticks of 90 kHz as nanoseconds.
func NS90(ticks int64) int64 { return ticks/9*100000 + ticks%9*100000/9 }
