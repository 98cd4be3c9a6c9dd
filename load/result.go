package load

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what came of a run. Latencies are in nanoseconds, of requests with an answer.
type Result struct {
	Plan  Plan
	Took  time.Duration // from the first request that counts to the last answer that was awaited
	Asked int64         // requests that were due
	Sent  int64
	Done  int64 // answered, errors in the protocol's own words among them
	// Answers are those that came while the time that counts went on, whenever they were sent.
	Answers int64
	Failed  int64 // of these: what the protocol calls an error
	Unasked int64 // answers that came with no request open
	Closed  int64 // answers after which the service closed the connection
	Odd     int64 // datagrams that are answers, of another size than was awaited
	// Early are answers that came before their request was sent whole. What is left of it is not sent, and the
	// connection is made again.
	Early int64
	// Streams is what became of several requests on one connection.
	Streams Streams
	Lost    map[Kind]int64
	// FromDue is from when a request was due, FromSent from when its first byte was written.
	FromDue, FromSent *hdrhistogram.Histogram
	// Lag is how late this program sent what it could have sent: its own doing.
	Lag *hdrhistogram.Histogram
	// Open is how many requests were open on average.
	Open float64
	// Busy is the share of the time in which snag's thread did not wait for anything.
	Busy float64
	// RunDelay is how long snag's thread waited for a CPU, all in all; 0 also where the kernel does not count it.
	RunDelay time.Duration
	// Late is how many answers came after the deadline.
	Late   int64
	growth growth
	// Parts are those of all answers' times since they were due.
	Parts Parts
	byDue [buckets]Parts // the same, by how long that was
	// Began is from when on requests count, Address whom they were sent to, in numbers, and Locals where from.
	Began   time.Time
	Address string
	Locals  Locals
	CPU     float64 // time that the load's thread used, s
	// Wire is what the kernel counted of the connections.
	Wire Wire
	// Behind is how many requests were due at the end and not sent, as no connection was free.
	Behind int64
	Flow   *Flow // nil: requests were asked, and no bandwidth
	// Sessions is what became of the sessions; nil: there were none.
	Sessions *Sessions
}

// Kind is why a request or a connection came to nothing.
type Kind string

// The kinds.
const (
	Refused    Kind = "connection refused"
	Reset      Kind = "connection reset"
	Closed     Kind = "closed without an answer"
	NoConnect  Kind = "no connection in time"
	NoLogin    Kind = "login failed"
	NoAnswer   Kind = "no answer in time"
	NoProtocol Kind = "no answer of the protocol"
	Failure    Kind = "other errors"
)

// longest is what a histogram holds: longer ones count as this.
const longest = time.Hour

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, longest.Nanoseconds(), 3)
}

func note(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(d, 0), longest).Nanoseconds()) // fails beyond longest alone
}

// Rate is answers per second. Where requests queued before they were sent, the first ones that are answered were
// due before the time that counts, and only what came within that time is the service's rate. Elsewhere the
// answers that came after it belong to it as well: as many came at its beginning that did not.
func (r *Result) Rate() float64 {
	if r.Took <= 0 {
		return 0
	}
	n := r.Done
	if r.Behind > 0 {
		n = r.Answers
	}
	return float64(n) / r.Took.Seconds()
}

// Lossless reports whether every request had its answer.
func (r *Result) Lossless() bool { return len(r.Lost) == 0 && r.Failed == 0 }

// LostAll is how many requests came to nothing.
func (r *Result) LostAll() (n int64) {
	for _, k := range r.Lost {
		n += k
	}
	return n
}

// StreamsEach is how many requests could be open on each connection at a time: the plan's, or the other side's limit.
func (r *Result) StreamsEach() int {
	n := max(1, r.Plan.Streams)
	if l := r.Streams.Limit; l != nil {
		n = min(n, *l)
	}
	return n
}

// Overloaded reports whether the service answered fewer requests than were due.
func (r *Result) Overloaded() bool {
	return r.Plan.Rate > 0 && float64(r.Done) < leastAchieved*r.Plan.wanted(r.Took) && r.Behind > 0
}

// growth fits a line to the times since requests were due, over when the answers came.
type growth struct{ n, x, y, xx, xy float64 }

func (g *growth) add(at, took float64) {
	g.n, g.x, g.y, g.xx, g.xy = g.n+1, g.x+at, g.y+took, g.xx+at*at, g.xy+at*took
}

func (g *growth) join(o growth) {
	g.n, g.x, g.y, g.xx, g.xy = g.n+o.n, g.x+o.x, g.y+o.y, g.xx+o.xx, g.xy+o.xy
}

// slope is that of the line; known: there are enough points for one.
func (g *growth) slope() (v float64, known bool) {
	below := g.n*g.xx - g.x*g.x
	if g.n < fewForSlope || below <= 0 {
		return 0, false
	}
	return (g.n*g.xy - g.x*g.y) / below, true
}

// fewForSlope points have a line whatever they are.
const fewForSlope = 3

// Growth is how much longer the answers take with each second that passes, in seconds: as measured, and by
// arithmetic, which is the share of the requests that is not answered in time.
func (r *Result) Growth() (measured, predicted float64) {
	measured, _ = r.growth.slope()
	if r.Plan.Rate > 0 {
		predicted = max(0, 1-r.Rate()/r.Plan.Rate)
	}
	return measured, predicted
}
