package fleet

import (
	"fmt"
	"slices"
	"time"
)

// Samples is whether the querier has all that the recorders sent.
type Samples struct {
	Hosts int `json:"hosts"`
	Asked int `json:"asked"` // samples that are due, of one series of each host
	// Answered of them. A recorder sends each series every 15 s; one whose distance to the one before is over
	// Late counts those between as not answered.
	Answered int     `json:"answered"`
	Longest  float64 `json:"longest_gap_seconds"`
	Refused  float64 `json:"refused"` // requests that the store refused for good, or that were removed
	Waiting  float64 `json:"waiting"` // requests that have not been sent yet
}

// Every is how often recorders send, seconds, and late the distance of two samples from which on one is missing.
const (
	every = 15.0
	late  = 1.5 * every
)

// samples counts them from the start of the recorders until now.
func (f *Fleet) samples(since time.Time) (s Samples, err error) {
	now := time.Now()
	span := int(now.Sub(since).Seconds()) + 1
	all, err := f.query(fmt.Sprintf("snag_record_up[%ds]", span), now)
	if err != nil {
		return s, err
	}
	s = countSamples(all, float64(now.UnixMilli())/1000)
	for name, value := range map[string]*float64{"refused_total": &s.Refused, "lost_total": &s.Refused, "waiting": &s.Waiting} {
		sum, err := f.query("sum(snag_remote_write_"+name+")", now)
		if err != nil {
			return s, err
		}
		if len(sum) == 1 {
			*value += sum[0].last()
		}
	}
	return s, nil
}

// countSamples counts those of each series between its first one and now.
func countSamples(all []found, now float64) (s Samples) {
	for _, one := range all {
		at := make([]float64, 0, len(one.Points)+1)
		for _, p := range one.Points {
			if p.At > 0 {
				at = append(at, p.At)
			}
		}
		if len(at) == 0 {
			continue
		}
		slices.Sort(at)
		at = slices.Compact(at)
		s.Hosts++
		s.Answered += len(at)
		s.Asked += len(at)
		for i, t := range at {
			next := now
			if i+1 < len(at) {
				next = at[i+1]
			}
			gap := next - t
			s.Longest = max(s.Longest, gap)
			if gap > late && i+1 < len(at) || gap > late+every { // the newest may be on its way
				s.Asked += int(gap/every+0.5) - 1
			}
		}
	}
	return s
}
