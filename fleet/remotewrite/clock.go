package remotewrite

import (
	"net/http"
	"sync"
	"time"
)

// clock compares this host's clock with the store's by the Date of its answers (RFC 9110, 6.6.1). A Date is
// cut to the second, so that one answer shows the difference to a second and the time of the request; of many,
// each at another part of the second, only what all allow is left.
type clock struct {
	mu     sync.Mutex
	bounds []clockBound
}

// clockBound is what one answer allows: how far this host's clock is ahead of the store's.
type clockBound struct {
	at            time.Time // by this host's clock
	least, atMost time.Duration
}

const (
	// clockFor is how long an answer counts, and drift how fast two clocks that nobody sets go apart.
	clockFor = 10 * time.Minute
	drift    = 100e-6
)

// answered takes the Date of an answer to a request that was sent at one time and answered at another.
func (c *clock) answered(date string, sent, got time.Time) {
	d, err := http.ParseTime(date)
	if err != nil || got.Before(sent) { // this clock was set meanwhile
		return
	}
	sent, got = sent.Round(0), got.Round(0)
	b := clockBound{got, sent.Sub(d) - time.Second, got.Sub(d)}
	c.mu.Lock()
	defer c.mu.Unlock()
	keep := c.bounds[:0]
	for _, old := range c.bounds {
		if age := got.Sub(old.at); age >= 0 && age <= clockFor {
			keep = append(keep, old)
		}
	}
	c.bounds = append(keep, b)
	if _, _, ok := within(c.bounds, got); !ok { // a clock was set: what was is over
		c.bounds = []clockBound{b}
	}
}

// within is what all bounds allow at a time.
func within(all []clockBound, now time.Time) (least, most time.Duration, ok bool) {
	for i, b := range all {
		apart := time.Duration(drift * float64(now.Sub(b.at)))
		lo, hi := b.least-apart, b.atMost+apart
		if i == 0 {
			least, most = lo, hi
		}
		least, most = max(least, lo), min(most, hi)
	}
	return least, most, len(all) > 0 && least <= most
}

// measured are the difference, and by how much it may be wrong.
func (c *clock) measured(now time.Time) []Measured {
	c.mu.Lock()
	defer c.mu.Unlock()
	least, most, ok := within(c.bounds, now.Round(0))
	if !ok {
		return nil
	}
	return []Measured{
		{"snag_clock_ahead_seconds", nil, (least + most).Seconds() / 2},
		{"snag_clock_ahead_error_seconds", nil, (most - least).Seconds() / 2},
	}
}
