package pcap

import (
	"math"
	"math/bits"
	"time"
)

// resolution is the unit of an interface's times (if_tsresol).
type resolution struct {
	mul, div uint64 // decimal: ns = ticks * mul / div
	shift    uint8  // binary: ticks are 2^-shift s; 0: decimal
	binary   bool
}

// decimal is 10^-n s.
func decimal(n int) resolution {
	if n <= 9 {
		return resolution{mul: power(9 - n), div: 1}
	}
	return resolution{mul: 1, div: power(min(n-9, 19))}
}

// binaryUnit is 2^-n s.
func binaryUnit(n int) resolution {
	return resolution{shift: uint8(min(n, 63)), binary: true}
}

func power(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// latest bounds times to what an int64 of ns holds: the year 2262. What a file says
// beyond is no time.
const latest = math.MaxInt64

// at is a time in ns since 1970; 0 where the ticks mean none.
func (f *face) at(ticks uint64) int64 {
	var ns uint64
	if f.res.binary {
		sec, part := ticks>>f.res.shift, ticks&(1<<f.res.shift-1)
		over, low := bits.Mul64(sec, 1e9)
		hi, lo := bits.Mul64(part, 1e9)
		part = lo>>f.res.shift | hi<<(64-f.res.shift)
		if over != 0 || low > latest-part {
			return 0
		}
		ns = low + part
	} else {
		over, low := bits.Mul64(ticks, f.res.mul)
		if over != 0 || low/f.res.div > latest {
			return 0
		}
		ns = low / f.res.div
	}
	if f.shift == 0 {
		return int64(ns)
	}
	const seconds = int64(latest / time.Second)
	if f.shift > seconds || f.shift < -seconds {
		return 0
	}
	sum := int64(ns) + f.shift*1e9
	return max(sum, 0) // over the end, or before 1970
}
