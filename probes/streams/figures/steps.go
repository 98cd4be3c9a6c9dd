package figures

import (
	"math/bits"
	"time"
)

// steps knows how a stream's DTS usually moves from one frame to the next: a
// histogram of the steps, forgotten by halves, and the precise mean of those near
// its median (a median of whole milliseconds is a per cent off at 29.97 fps).
type steps struct {
	count   [stepBuckets]uint16
	total   int
	typical int64 // ns, the median; 0: not known yet
	long    int64 // ns, the 95th percentile, a bucket's upper edge
	regular bool  // fewer than one step in twenty is over 1.5 typical ones
	mean    float64
	n       int // steps in mean, up to meanOver
}

const (
	// Eight buckets an octave from 1 ms: each 1/8 wide at its lower edge. The
	// last takes what is over 16 s.
	stepBuckets = 14 * 8
	stepUnit    = int64(time.Millisecond) / 8
	forgetAt    = 2048 // steps: 68 s at 30 fps; then half is forgotten
	knownAfter  = 4    // steps, for a spacing
	judgeAfter  = 64   // steps, for what is regular
	meanOver    = 256
)

// stepBucket is the place of a step in the histogram.
func stepBucket(ns int64) int {
	u := uint64(max(ns, 0) / stepUnit) // 8 is 1 ms
	if u < 8 {
		return 0
	}
	octave := bits.Len64(u) - 4 // of 8..15: 0
	return min(octave*8+int(u>>uint(octave))-8, stepBuckets-1)
}

// stepEdge is a bucket's lower edge, ns.
func stepEdge(b int) int64 { return int64(8+b%8) << uint(b/8) * stepUnit }

func (s *steps) add(ns int64) {
	s.count[stepBucket(ns)]++
	s.total++
	if s.typical > 0 && ns > s.typical*3/4 && ns < s.typical*5/4 {
		s.n = min(s.n+1, meanOver)
		s.mean += (float64(ns) - s.mean) / float64(s.n)
		s.typical = int64(s.mean + 0.5)
	}
	switch {
	case s.total == knownAfter, s.total == 16, s.total == judgeAfter:
		s.weigh()
	case s.total >= forgetAt:
		s.total = 0
		for i := range s.count {
			s.count[i] /= 2
			s.total += int(s.count[i])
		}
	}
}

// weigh finds the median and what is usual around it; once a second is enough.
func (s *steps) weigh() {
	if s.total < knownAfter {
		return
	}
	median, high := s.quantile(s.total/2), s.quantile(s.total*19/20)
	// The mean follows small changes by itself; a median elsewhere is a new rate.
	if m := (stepEdge(median) + stepEdge(median+1)) / 2; s.typical < m*3/4 || s.typical > m*5/4 {
		s.typical, s.mean, s.n = m, float64(m), 0
	}
	s.long = stepEdge(high + 1)
	over, from := 0, stepBucket(s.typical*3/2)+1
	for _, c := range s.count[min(from, stepBuckets):] {
		over += int(c)
	}
	s.regular = s.total >= judgeAfter && over*20 < s.total
}

// quantile is the bucket of the nth step, counted from the shortest.
func (s *steps) quantile(n int) int {
	for i, c := range s.count {
		if n -= int(c); n < 0 {
			return i
		}
	}
	return stepBuckets - 1
}

// variable says that the frame rate is known to be variable.
func (s *steps) variable() bool { return s.total >= judgeAfter && !s.regular }

// spacing is the time after which the next frame is due: the usual step, of a
// variable rate its longest usual one. 0: not known.
func (s *steps) spacing() int64 {
	if s.variable() {
		return max(s.typical, s.long)
	}
	return s.typical
}

// missing is how many frames a step leaves out: none where the rate is variable
// or not known yet.
func (s *steps) missing(ns int64) int {
	// A capture clock wavers: what one step in twenty does is usual.
	if !s.regular || s.typical <= 0 || ns <= max(s.typical*skipOver/2, s.long*5/4) {
		return 0
	}
	return int(min((ns+s.typical/2)/s.typical-1, 1<<31))
}
