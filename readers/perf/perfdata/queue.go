package perfdata

import "slices"

// queue puts records in the order of their times. Each CPU's records come in
// order, and those of several CPUs by turns: after a round nothing can come that is
// older than the newest of the round before (tools/perf/util/ordered-events.c).
type queue struct {
	waiting []waiting
	bytes   []byte
	newest  uint64 // of all
	before  uint64 // newest at the end of the round before
}

type waiting struct {
	at         uint64
	start, end int
}

// mostWaiting bytes may wait for their turn.
const mostWaiting = 24 << 20

// put puts a record in line. hurried counts those that went on before it was sure
// that nothing older comes.
func (q *queue) put(b []byte, at uint64, handle func([]byte)) (hurried uint64) {
	if len(q.bytes)+len(b) > mostWaiting {
		n := len(q.waiting)
		q.sort()
		q.flush(q.waiting[n/2].at, handle)
		hurried = uint64(n - len(q.waiting))
	}
	q.waiting = append(q.waiting, waiting{at, len(q.bytes), len(q.bytes) + len(b)})
	q.bytes = append(q.bytes, b...)
	q.newest = max(q.newest, at)
	return hurried
}

// round ends a round.
func (q *queue) round(handle func([]byte)) {
	q.flush(q.before, handle)
	q.before = q.newest
}

func (q *queue) sort() {
	slices.SortStableFunc(q.waiting, func(a, b waiting) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
}

// flush hands on what is not newer than at.
func (q *queue) flush(at uint64, handle func([]byte)) {
	q.sort()
	n := 0
	for n < len(q.waiting) && q.waiting[n].at <= at {
		handle(q.bytes[q.waiting[n].start:q.waiting[n].end])
		n++
	}
	if n == 0 {
		return
	}
	rest := make([]byte, 0, len(q.bytes)/2)
	for i, w := range q.waiting[n:] {
		q.waiting[i] = waiting{w.at, len(rest), len(rest) + w.end - w.start}
		rest = append(rest, q.bytes[w.start:w.end]...)
	}
	q.waiting, q.bytes = q.waiting[:len(q.waiting)-n], rest
}
