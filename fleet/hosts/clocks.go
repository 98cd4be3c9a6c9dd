package hosts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"snag/internal/units"
)

// What a host sends has the times of its own clock. One that is far off has nothing at the store's time, or what it
// sent long ago: it is asked for at the time that its clock shows.
const (
	// farOff is less than a store looks back, and more than the clocks of hosts that keep time differ.
	farOff = 10 * time.Second
	// mostAhead is how far in the future a sample may be: stores refuse later ones.
	mostAhead = 10 * time.Minute
	// mostOff times are asked for beside the store's own: each repeats the queries.
	mostOff = 8
)

// clocks reads which hosts' clocks are far off the store's, and by how much.
func (r *reader) clocks(ctx context.Context) error {
	ahead := fmt.Sprintf("last_over_time(snag_clock_ahead_seconds[%dm])", int((remembered + mostAhead).Minutes()))
	a, err := r.q.Query(ctx, fmt.Sprintf("%s > %g or %s < -%g", ahead, farOff.Seconds(), ahead, farOff.Seconds()), r.At.Add(mostAhead))
	if err != nil {
		return err
	}
	hosts := map[time.Duration][]string{}
	for _, s := range a.Samples {
		if name := s.Labels["instance"]; name != "" {
			by := time.Duration(s.Value * float64(time.Second)).Round(farOff / 2)
			hosts[by] = append(hosts[by], name)
		}
	}
	off := slices.SortedFunc(maps.Keys(hosts), func(a, b time.Duration) int {
		return cmp.Or(cmp.Compare(len(hosts[b]), len(hosts[a])), cmp.Compare(a, b))
	})
	for i, by := range off {
		if i >= mostOff {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the clocks of these hosts are off by yet another time, at which nothing was read: %s", some(hosts[by], mostNamed)))
			continue
		}
		r.times = append(r.times, by)
		for _, name := range hosts[by] {
			r.off[name] = by
		}
	}
	return nil
}

// again is a reader of more, at the times of the hosts that are known.
func (f *Fleet) again(q Querier) *reader {
	r := &reader{f, q, []time.Duration{0}, map[string]time.Duration{}, nil}
	for _, h := range f.Hosts {
		if r.off[h.Name] = h.Ahead; !slices.Contains(r.times, h.Ahead) {
			r.times = append(r.times, h.Ahead)
		}
	}
	return r
}

// wrongClocks are sentences on hosts whose clocks are far off.
func (f *Fleet) wrongClocks() (out []string) {
	for _, name := range f.names() {
		if h := f.Hosts[name]; h.Ahead > 0 {
			out = append(out, fmt.Sprintf("%s: its clock is about %s ahead of the store's", name, units.Lasting(h.Ahead.Seconds())))
		} else if h.Ahead < 0 {
			out = append(out, fmt.Sprintf("%s: its clock is about %s behind the store's", name, units.Lasting(-h.Ahead.Seconds())))
		}
	}
	return out
}
