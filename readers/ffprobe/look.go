package ffprobe

import (
	"bytes"
	"time"

	"snag/internal/stamp"
)

// look is what a file's beginning tells of how its packets came.
type look struct {
	// bursty: a segment at a time, as HLS does: most of the time passes in gaps of over
	// per second, of which there are three at least.
	bursty bool
	// coarse: the times of arrival are whole seconds. offset is then how much they are
	// ahead of the stream's clock at the most in the first seconds, ns: what that clock
	// says in between is within the second.
	coarse bool
	offset int64
}

// coarseFreeze: with times of whole seconds a gap of 1 s looks like 2.
const coarseFreeze = 2500 * time.Millisecond

// firstSeconds, ns, are enough for the offset.
const firstSeconds = int64(4e9)

func lookAt(head []byte, w writer, m mark) look {
	var l look
	var first, last, inGaps int64
	gaps, n := 0, 0
	l.coarse = true
	s := &scanner{writer: w, mark: m, clock: stamp.New(utc, farFuture)}
	s.use = func(r *record) {
		if r.arrival == 0 || !r.whole() {
			return
		}
		dts, _ := r.time()
		if n++; n == 1 {
			first, l.offset = r.arrival, r.arrival-dts
		} else if gap := r.arrival - last; gap > 1e9 {
			gaps++
			inGaps += gap
		}
		if r.arrival-first < firstSeconds {
			l.offset = max(l.offset, r.arrival-dts)
		}
		last = max(last, r.arrival)
		l.coarse = l.coarse && r.arrival%1e9 == 0
	}
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\n"))
		s.line(line)
	}
	l.bursty = gaps >= 3 && n >= 20 && inGaps*5 >= (last-first)*4
	l.coarse = l.coarse && n >= 20 && !l.bursty
	return l
}

// within puts an arrival of a whole second to where the stream's clock has it, if that
// is within the second; else it stands.
func (l *look) within(arrival, dts int64) int64 {
	if by := dts + l.offset; by >= arrival && by < arrival+1e9 {
		return by
	}
	l.offset = arrival - dts
	return arrival
}
