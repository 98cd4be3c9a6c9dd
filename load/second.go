package load

import (
	"math"
	"time"

	"snag/recording"
)

// Parts are sums over N answers, s: a request that is due waits for a free connection, is then sent late
// by this program itself, and then waits for its answer.
type Parts struct {
	N                       int64
	Waiting, OwnLag, Answer float64
}

func (p *Parts) add(q Parts) {
	p.N, p.Waiting, p.OwnLag, p.Answer = p.N+q.N, p.Waiting+q.Waiting, p.OwnLag+q.OwnLag, p.Answer+q.Answer
}

// Second is what happened in one second of a run.
type Second struct {
	Began                           time.Duration // since requests count
	Asked, Sent, Done, Failed, Late int64
	Lost                            map[Kind]int64
	// Parts are of the answers that came in it, Max is the longest time since one was due.
	Parts
	Max float64
	// DueHist and SentHist count the answers by the time since they were due, and sent
	// (recording.TurnBound).
	DueHist, SentHist []uint64
	Open              float64 // requests that were open, on average
}

// buckets of times since due: recording.TurnBucket gives no greater one.
const buckets = 81

func counted(hist []uint64, seconds float64) []uint64 {
	i := recording.TurnBucket(seconds)
	for len(hist) <= i {
		hist = append(hist, 0)
	}
	hist[i]++
	return hist
}

// clock takes the time. Seconds that are over by then are handed out before anything else happens.
func (r *run) clock() {
	r.now = time.Since(r.began)
	for r.counts && r.now >= r.from+r.second.Began+time.Second {
		r.endSecond(r.from + r.second.Began + time.Second)
	}
}

// endSecond hands out what happened until then, and begins the next second.
func (r *run) endSecond(at time.Duration) {
	r.openUntil(at)
	s := r.second
	if length := (at - r.from - s.Began).Seconds(); length > 0 {
		s.Open = r.secondArea / length
	}
	s.Asked = r.dueIn(s.Began, at-r.from)
	if r.plan.Rate == 0 {
		s.Asked = s.Sent
	}
	r.out.Asked += s.Asked
	if r.plan.Each != nil {
		r.plan.Each(r.out.Began.Add(s.Began), s)
	}
	r.second, r.secondArea = Second{Began: s.Began + time.Second}, 0
}

// dueIn is how many requests are due between two times since requests count.
func (r *run) dueIn(from, to time.Duration) int64 {
	before := func(d time.Duration) int64 {
		return int64(math.Ceil(min(r.from+d, r.until).Seconds()*r.plan.Rate - 1e-6))
	}
	return max(0, before(to)-before(from))
}

// lose counts a request or a connection that came to nothing.
func (r *run) lose(kind Kind) {
	r.out.Lost[kind]++
	if r.second.Lost == nil {
		r.second.Lost = map[Kind]int64{}
	}
	r.second.Lost[kind]++
}

// took notes an answer that counts, with the parts of the time since it was due.
func (r *run) took(q *openRequest, failed int) {
	due, sent := r.now-q.due, r.now-q.sent
	parts := Parts{1, max(0, q.readyAt-q.due).Seconds(), max(0, q.sent-q.readyAt).Seconds(), sent.Seconds()}
	r.out.Parts.add(parts)
	r.out.byDue[min(recording.TurnBucket(due.Seconds()), buckets-1)].add(parts)
	s := &r.second
	s.Done++
	s.Failed += int64(failed)
	if r.plan.Deadline > 0 && due > r.plan.Deadline {
		s.Late++
	}
	s.add(parts)
	s.Max = max(s.Max, due.Seconds())
	s.DueHist, s.SentHist = counted(s.DueHist, due.Seconds()), counted(s.SentHist, sent.Seconds())
}

// Slowest are the parts of the slowest answers, of which there are so large a share of all or a few more,
// as fine as the buckets are.
func (r *Result) Slowest(share float64) (slow Parts) {
	for i := buckets - 1; i >= 0 && float64(slow.N) < share*float64(r.Parts.N); i-- {
		slow.add(r.byDue[i])
	}
	return slow
}
