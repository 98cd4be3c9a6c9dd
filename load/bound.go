package load

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Bound is what has to hold, such as p99 < 100ms, of the times since each request was due.
type Bound struct {
	Quantile float64 // percent; 0: the mean
	Below    time.Duration
	text     string
}

var boundOf = regexp.MustCompile(`^\s*(mean|p[0-9]+(?:\.[0-9]+)?)\s*<\s*(\S+)\s*$`)

// ParseBound reads p50, p99, p99.9 or mean, then < and a time.
func ParseBound(text string) (b Bound, err error) {
	m := boundOf.FindStringSubmatch(text)
	if m == nil {
		return b, fmt.Errorf("%q is not a bound: give one such as 'p99 < 100ms'", text)
	}
	if m[1] != "mean" {
		b.Quantile, err = strconv.ParseFloat(m[1][1:], 64)
		if b.Quantile > 100 && !strings.Contains(m[1], ".") { // p999 is p99.9
			b.Quantile /= 10
		}
		if err != nil || b.Quantile <= 0 || b.Quantile > 100 {
			return b, fmt.Errorf("%q is not a quantile: p50, p99 or p99.9", m[1])
		}
	}
	if b.Below, err = time.ParseDuration(m[2]); err != nil || b.Below <= 0 {
		return b, fmt.Errorf("%q is not a time: give one such as 100ms", m[2])
	}
	b.text = m[1] + " < " + m[2]
	return b, nil
}

func (b Bound) String() string { return b.text }

// mostLost is the share of requests without a good answer up to which a bound can hold.
const mostLost = 0.01

// Holds reports whether a run held the bound. Requests that were never sent or got no good answer count as
// later than it.
func (b Bound) Holds(r *Result) bool {
	bad := r.LostAll() + r.Failed + r.Behind
	all := r.Sent + r.Behind
	if all == 0 || r.Done == 0 || float64(bad) > mostLost*float64(all) {
		return false
	}
	if b.Quantile == 0 {
		return r.FromDue.Mean() < float64(b.Below)
	}
	// The quantile of all, of which bad ones are the latest.
	within := b.Quantile / 100 * float64(all) / float64(r.Done-r.Failed) * 100
	return within <= 100 && time.Duration(r.FromDue.ValueAtQuantile(within)) < b.Below
}
