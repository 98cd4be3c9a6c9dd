package load

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what came of a run. Latencies are in nanoseconds, of requests with an answer.
type Result struct {
	Plan    Plan
	Took    time.Duration // from the first request that counts to the last answer that was awaited
	Sent    int64
	Done    int64 // answered, errors in the protocol's own words among them
	Failed  int64 // of these: what the protocol calls an error
	Unasked int64 // answers that came with no request open
	Lost    map[Kind]int64
	// FromDue is from when a request was due, FromSent from when its first byte was written.
	FromDue, FromSent *hdrhistogram.Histogram
	// Lag is how late this program sent what it could have sent: its own doing.
	Lag *hdrhistogram.Histogram
	// Open is how many requests were open on average.
	Open float64
	// Busy is the share of the time in which snag's thread did not wait for anything.
	Busy float64
	// Behind is how many requests were due at the end and not sent, as no connection was free.
	Behind int64
}

// Kind is why a request or a connection came to nothing.
type Kind string

// The kinds.
const (
	Refused    Kind = "connection refused"
	Reset      Kind = "connection reset"
	Closed     Kind = "closed without an answer"
	NoConnect  Kind = "no connection in time"
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

// Rate is answers a second.
func (r *Result) Rate() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Done) / r.Took.Seconds()
}

// Lossless reports whether every request had its answer.
func (r *Result) Lossless() bool { return len(r.Lost) == 0 && r.Failed == 0 }
