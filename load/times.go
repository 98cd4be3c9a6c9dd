package load

import (
	"sort"
	"time"
)

// Times is when the messages of a connection are due: the same sequence again and again. The connections
// begin one after the other, so that they do not send at the same moment.
type Times struct {
	At    []time.Duration // after the first message, in order
	Every time.Duration   // when the sequence begins anew
}

// shift is how much later a connection begins than the first one.
func (t *Times) shift(conn, conns int) time.Duration {
	return time.Duration(float64(t.Every) * float64(conn) / float64(conns))
}

// due is when request i of all connections is to be sent, after the start.
func (t *Times) due(i int64, conns int) time.Duration {
	conn, k, n := int(i%int64(conns)), i/int64(conns), int64(len(t.At))
	return time.Duration(k/n)*t.Every + t.At[k%n] + t.shift(conn, conns)
}

// upTo is how many requests of a connection are due before end.
func (t *Times) upTo(end time.Duration, conn, conns int) int64 {
	end -= t.shift(conn, conns)
	if end <= 0 {
		return 0
	}
	whole := int64(end / t.Every)
	rest := end - time.Duration(whole)*t.Every
	return whole*int64(len(t.At)) + int64(sort.Search(len(t.At), func(i int) bool { return t.At[i] >= rest }))
}

// before is how many requests of a connection are due before end and not sent, where next is its next one.
func (t *Times) before(end time.Duration, next int64, conns int) int64 {
	return max(0, t.upTo(end, int(next%int64(conns)), conns)-next/int64(conns))
}

// wanted is how many requests are due in so much of the time that counts.
func (p Plan) wanted(took time.Duration) float64 {
	if p.Times == nil {
		return p.Rate * took.Seconds()
	}
	n := int64(0)
	for c := range p.Conns {
		n += p.Times.upTo(p.Warm+took, c, p.Conns) - p.Times.upTo(p.Warm, c, p.Conns)
	}
	return float64(n)
}
