package streams

import (
	"math"

	"snag/recording"
)

// band is a course of at most so many times: of each the least and the most.
type band struct {
	t         []recording.Time
	low, high [quantities][]float64
	step      float64 // seconds that a value stands for; 1: each as it was measured
}

// thinned groups a course into steps of equal length, of which the least and the most are
// kept: a freeze of one second stays a second without a frame however long the course is.
func thinned(c course, most int) band {
	n := len(c.t)
	b := band{step: 1}
	if n == 0 || most < 1 {
		return b
	}
	width := int64(0)
	if n > most {
		span := int64(c.t[n-1].Sub(c.t[0]))
		width = max(span/int64(max(most-1, 1))+1, 1)
		b.step = float64(width) / 1e9
	}
	for i := 0; i < n; {
		j := i + 1
		if width > 0 {
			group := int64(c.t[i].Sub(c.t[0])) / width
			for j < n && int64(c.t[j].Sub(c.t[0]))/width == group {
				j++
			}
		}
		b.t = append(b.t, c.t[j-1])
		for q := range c.v {
			low, high := bounds(c.v[q][i:j])
			b.low[q], b.high[q] = append(b.low[q], low), append(b.high[q], high)
		}
		i = j
	}
	return b
}

// bounds are the least and the most of what was measured, NaN where nothing was.
func bounds(v []float64) (low, high float64) {
	low, high = nan, nan
	for _, x := range v {
		if math.IsNaN(x) {
			continue
		}
		if math.IsNaN(low) || x < low {
			low = x
		}
		if math.IsNaN(high) || x > high {
			high = x
		}
	}
	return low, high
}

// figures are those of the band that were measured at all, as the page has them.
func (b band) figures() []Figure {
	out := []Figure{}
	for q := range names {
		f := Figure{Name: names[q], Low: cells(b.low[q])}
		same, measured := true, false
		for i := range b.low[q] {
			measured = measured || !math.IsNaN(b.low[q][i])
			same = same && (math.IsNaN(b.low[q][i]) || shortened(b.low[q][i]) == shortened(b.high[q][i]))
		}
		if !measured {
			continue
		}
		if !same {
			f.High = cells(b.high[q])
		}
		out = append(out, f)
	}
	return out
}

func cells(v []float64) []*float64 {
	out := make([]*float64, len(v))
	for i, x := range v {
		out[i] = measured(x)
	}
	return out
}

// measured is a figure as the page has it: null is not measured.
func measured(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	short := shortened(x)
	return &short
}

// shortened keeps what can be seen in a chart: four digits, and no less than 0.1 ms.
func shortened(x float64) float64 {
	if math.Abs(x) < 1e-4 {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	scale = min(scale, 1e4)
	return math.Round(x*scale) / scale
}
