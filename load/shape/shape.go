// Package shape reads what the answers' times and their rate do as the requests get more: slower at
// low rates than at high ones (a hump), no more answers beyond a rate (a knee), fewer answers, and
// slow for a while after too many (hysteresis). It is given points and does no I/O.
package shape

import (
	"cmp"
	"slices"

	"snag/internal/sorting"
)

// Point is one run. All times are in seconds.
type Point struct {
	Rate    float64 // requests/s asked for; 0: as many as possible
	Conns   int
	Streams int     // requests that can be open on a connection at a time; 0 is 1
	Size    int     // bytes of a message; 0: it has one size
	Answers float64 // answers/s
	Open    float64 // requests open on average
	Sent    int64
	Lost    int64 // without an answer
	// Since each request was sent.
	Mean, P50, P90, P99 float64
	// Since each was due; 0: none that was due in the time that counts was answered.
	DueP50, DueP99 float64
	Lag            float64 // how late snag itself sent, at the median
	Why            string  // why the figures are not the service's; "": they are
	DueWhy         string  // why the times since each was due are not, beside Why; "": they are
	Failed         bool    // the run could not be made, for the reason in Why: there are no figures
}

// At is what the repeats at one rate on one number of connections have in common: the medians, and
// the lowest and highest p50.
type At struct {
	Point
	Low, High float64 // of P50
	Repeats   int     // of these figures that are the service's
	Of        int
}

// Solid reports whether enough repeats have figures of the service for a finding.
func (a At) Solid() bool { return a.Repeats >= leastSolid }

// Join joins the repeats, by connections and rate. Runs whose figures are not the service's count only
// where all are.
func Join(points []Point) (out []At) {
	type key struct {
		group Group
		rate  float64
	}
	by := map[key][]Point{}
	for _, p := range points {
		k := key{p.group(), p.Rate}
		by[k] = append(by[k], p)
	}
	for _, all := range by {
		good := slices.DeleteFunc(slices.Clone(all), func(p Point) bool { return p.Why != "" || p.P50 == 0 })
		a := At{Repeats: len(good), Of: len(all)}
		if len(good) == 0 {
			good = all
		}
		a.Point = good[0]
		for _, f := range []func(*Point) *float64{
			func(p *Point) *float64 { return &p.Answers }, func(p *Point) *float64 { return &p.Open },
			func(p *Point) *float64 { return &p.Mean }, func(p *Point) *float64 { return &p.P50 }, func(p *Point) *float64 { return &p.P90 }, func(p *Point) *float64 { return &p.P99 },
			func(p *Point) *float64 { return &p.Lag },
		} {
			var values []float64
			for _, p := range good {
				values = append(values, *f(&p))
			}
			*f(&a.Point) = median(values)
		}
		a.joinDue(good)
		a.Low, a.High = good[0].P50, good[0].P50
		a.Lost, a.Sent = 0, 0
		for _, p := range good {
			a.Low, a.High = min(a.Low, p.P50), max(a.High, p.P50)
			a.Lost, a.Sent = a.Lost+p.Lost, a.Sent+p.Sent
		}
		out = append(out, a)
	}
	sorting.By(out, func(a, b At) int {
		return cmp.Or(cmp.Compare(a.Conns, b.Conns), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Rate, b.Rate))
	})
	return out
}

// joinDue takes the times since requests were due of those repeats in which these are the service's. Where they are in
// none, there are none.
func (a *At) joinDue(all []Point) {
	var p50, p99 []float64
	a.DueP50, a.DueP99, a.DueWhy = 0, 0, ""
	why := ""
	for _, p := range all {
		if p.DueWhy != "" || p.DueP50 == 0 {
			why = cmp.Or(p.DueWhy, why)
			continue
		}
		p50, p99 = append(p50, p.DueP50), append(p99, p.DueP99)
	}
	if len(p50) == 0 {
		a.DueWhy = why
		return
	}
	a.DueP50, a.DueP99 = median(p50), median(p99)
}

func median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

// Group is what a sweep over rates has in common.
type Group struct{ Conns, Size int }

func (p Point) group() Group { return Group{p.Conns, p.Size} }

// Groups are those that there are, in the order of Join.
func Groups(all []At) (out []Group) {
	for _, a := range all {
		if len(out) == 0 || out[len(out)-1] != a.group() {
			out = append(out, a.group())
		}
	}
	return out
}

// Of are those of a group, by rate.
func Of(all []At, g Group) (out []At) {
	for _, a := range all {
		if a.group() == g {
			out = append(out, a)
		}
	}
	return out
}
