package verify

import (
	"time"

	"snag/recording"
)

// leastSeconds of a recording: from fewer no interval can be told.
const leastSeconds = 5

// seconds is an amount for each whole second of a recording.
type seconds struct {
	bad []float64
	// measured: false where nobody looked; not the same as none.
	measured bool
	// untimed: how much there was is known, and not in which seconds.
	untimed bool
}

func newSeconds(r *recording.Recording) seconds {
	return seconds{bad: make([]float64, max(1, int(r.Length()/time.Second))), measured: true}
}

func short(r *recording.Recording) bool { return r.Length() < leastSeconds*time.Second }

// at is the second of a moment, within the window.
func (s *seconds) at(r *recording.Recording, t recording.Time) int {
	return min(max(int(t.Sub(r.Manifest.Start)/time.Second), 0), len(s.bad)-1)
}

// grow adds a counter's growth, each step to the second in which it was between.
func (s *seconds) grow(r *recording.Recording, points []recording.Point) {
	for i, p := range (recording.Series{Points: points}).Steps() {
		s.bad[s.at(r, points[i].T.Add(p.T.Sub(points[i].T)/2))] += p.V
	}
}

// spread puts an amount onto the intervals in which it was felt, in proportion to their
// lengths; where they are not known, onto all.
func (s *seconds) spread(r *recording.Recording, active []recording.Interval, amount float64) {
	end := r.Manifest.End
	total := 0.0
	for _, i := range active {
		total += i.Length(end).Seconds()
	}
	if total <= 0 {
		s.untimed = true
		active, total = []recording.Interval{r.Window()}, r.Length().Seconds()
	}
	s.each(r, active, func(second int, part float64) { s.bad[second] += amount * part / total })
}

// during adds an intensity (seconds of delay, a ratio) for the part of each second in
// which it was felt.
func (s *seconds) during(r *recording.Recording, active []recording.Interval, amount float64) {
	if len(active) == 0 {
		s.untimed = true
		active = []recording.Interval{r.Window()}
	}
	s.each(r, active, func(second int, part float64) { s.bad[second] += amount * part })
}

// each gives the part of each second, in seconds, that intervals cover.
func (s *seconds) each(r *recording.Recording, active []recording.Interval, f func(second int, part float64)) {
	for _, i := range active {
		from, to := max(i.Start, r.Manifest.Start), i.End
		if to == 0 || to > r.Manifest.End {
			to = r.Manifest.End
		}
		for k := s.at(r, from); k < len(s.bad); k++ {
			a := max(from, r.Manifest.Start.Add(time.Duration(k)*time.Second))
			b := min(to, r.Manifest.Start.Add(time.Duration(k+1)*time.Second))
			if k == len(s.bad)-1 {
				b = to
			}
			if b <= a {
				break
			}
			f(k, b.Sub(a).Seconds())
		}
	}
}

func (s *seconds) sum() (total float64) {
	for _, v := range s.bad {
		total += v
	}
	return total
}
