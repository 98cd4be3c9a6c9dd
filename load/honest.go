package load

import (
	"fmt"
	"math"
	"time"

	"snag/internal/units"
)

// Of an open loop, the figures are the service's only if this program sent when it was to.
const (
	leastAchieved = 0.99 // of the rate that was asked for
	mostOwnLag    = 0.1  // of the median latency
	// Beyond it a thread takes up what came only after it has done something else.
	mostBusy = 0.9
	// Little's law (J. Little, "A Proof for the Queuing Formula L = λW", 1961): requests open on
	// average are the rate times the mean latency. Where they are not, what was counted is not what
	// was measured.
	mostOff = 0.05
	// mostDelayed is the share of an answer's time for which this program's thread may have waited for a CPU: it
	// reads the answer that much later.
	mostDelayed = 0.2
	// fewForLittle are too few answers for it: those that are open at the end count for much.
	fewForLittle = 200
)

// Honest says why the figures are of this program and not of the service; "" if they are.
func (r *Result) Honest() string {
	if r.Done == 0 {
		return ""
	}
	if r.Flow != nil {
		return r.honestFlow()
	}
	if why := r.lateItself(); why != "" {
		return why
	}
	return r.HonestSinceSent()
}

// lateItself is a doubt about the times since requests were due.
func (r *Result) lateItself() string {
	p50, lag := r.FromSent.ValueAtQuantile(50), r.Lag.ValueAtQuantile(50)
	if r.Plan.Rate > 0 && float64(lag) > mostOwnLag*float64(p50) {
		return fmt.Sprintf("half of the requests were sent %s late or more by snag itself, of a median answer of %s: fewer requests per second, or a dedicated CPU (--cpu)",
			units.Short(time.Duration(lag).Seconds()), units.Short(time.Duration(p50).Seconds()))
	}
	return ""
}

// HonestSinceSent is Honest of the times since requests were sent, which do not contain how late they
// were sent.
func (r *Result) HonestSinceSent() string {
	if r.Done == 0 {
		return ""
	}
	if r.Busy > mostBusy {
		return fmt.Sprintf("snag's own thread was busy for %.0f %% of the time: it may have read the answers late", 100*r.Busy)
	}
	if each := float64(r.RunDelay) / float64(r.Done); each > mostDelayed*r.FromSent.Mean() && r.FromSent.TotalCount() > 0 {
		return fmt.Sprintf("snag's thread waited for a CPU for %s per answer, of a mean of %s: other programs took it. Give it a dedicated CPU (--cpu)", units.Short(each/1e9), units.Short(r.FromSent.Mean()/1e9))
	}
	// Of a part of a request nothing was due: 22.5 are 22 at the least.
	if want := math.Floor(r.Plan.wanted(r.Took)); float64(r.Sent+r.Behind) < leastAchieved*want {
		return fmt.Sprintf("snag sent %s of %s requests, though its connections were free", units.Count(float64(r.Sent)), units.Count(want))
	}
	if n := r.Rate() * r.FromSent.Mean() / 1e9; r.Done >= fewForLittle && r.Lossless() && (n-r.Open > mostOff*r.Open || r.Open-n > mostOff*r.Open) {
		return fmt.Sprintf("%.2f requests were open on average, and %s answers per second of %s make %.2f: more was open than was measured",
			r.Open, units.Count(r.Rate()), units.Short(r.FromSent.Mean()/1e9), n)
	}
	return ""
}

// honestFlow is Honest for a bandwidth: what matters is whether this program sent what is needed.
func (r *Result) honestFlow() string {
	if r.Flow.Sent < leastAchieved*r.Flow.Needed && r.Busy > mostBusy {
		return fmt.Sprintf("snag's own thread was busy for %.0f %% of the time and sent %s of %s: larger messages (--size), or a dedicated CPU (--cpu)", 100*r.Busy, units.Bits(r.Flow.Sent), units.Bits(r.Flow.Needed))
	}
	return ""
}
