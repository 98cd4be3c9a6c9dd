package offcpu

import "time"

// What a second may cost at most before less is taken, as a share of the budget: the
// rest is for the other probes.
const ownShare = 0.5

// muchOver times what it may is too much to come down from in steps.
const muchOver = 4

// effort is how much is taken of what happens.
type effort struct {
	Threshold time.Duration // of the waits that count
	Rate      uint32        // stacks per second of each thread; 0: all
}

const (
	leastThreshold = time.Millisecond
	mostThreshold  = 64 * time.Millisecond
	fullRate       = 1000
	leastRate      = 8
)

// adapt chooses the effort of the next second by what the last one cost, CPU seconds a
// second, and what it may; 0 is no limit.
func (e effort) adapt(cost, may float64) effort {
	switch {
	case may <= 0:
	case cost > muchOver*may && e.Rate > leastRate:
		e.Rate = leastRate // at once: a step per second would spend the budget many times
	case cost > may:
		e, _ = e.less()
	case cost < may/4 && e.Threshold > leastThreshold:
		e.Threshold = max(leastThreshold, e.Threshold/2)
	case cost < may/4 && e.Rate < fullRate:
		e.Rate = min(fullRate, 2*e.Rate)
	}
	return e
}

// least is all that can be given up.
var least = effort{Threshold: mostThreshold, Rate: leastRate}

// less takes less: stacks cost most and are given up first. False when there is
// nothing left to give up.
func (e effort) less() (effort, bool) {
	switch {
	case e.Rate > leastRate:
		e.Rate = max(leastRate, e.Rate/4)
	case e.Threshold < mostThreshold:
		e.Threshold *= 2
	default:
		return e, false
	}
	return e, true
}

// hurry chooses the effort at once where the programs take many times the share of a CPU
// from whoever runs there: busiest is what they take of the one of which they take most.
// False when the budget is over and there is nothing left to give up.
func (e effort) hurry(busiest, share float64, over bool) (effort, bool) {
	switch {
	case busiest < muchOver*share:
	case e.Rate > leastRate:
		e.Rate = leastRate
	case over && e != least:
		return least, true
	case over:
		return e, false
	}
	return e, true
}
