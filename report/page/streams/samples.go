package streams

import (
	"math"

	"snag/recording"
)

func empty(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = nan
	}
	return out
}

// align puts a series under the course's times.
func (c *course) align(points []recording.Point) []float64 {
	out := empty(len(c.t))
	j := 0
	for i, t := range c.t {
		for j < len(points) && points[j].T < t {
			j++
		}
		if j < len(points) && points[j].T == t && !math.IsInf(points[j].V, 0) {
			out[i] = points[j].V
		}
	}
	return out
}

// length of a second, NaN of the first and after a hole.
func (c *course) length(i int) float64 {
	if i == 0 {
		return nan
	}
	d := c.t[i].Sub(c.t[i-1])
	if d <= 0 || d > hole {
		return nan
	}
	return d.Seconds()
}

// steps is by how much a counter grew in each second; one that is less than before has
// begun again.
func (c *course) steps(v []float64) []float64 {
	out := empty(len(v))
	for i := 1; i < len(v); i++ {
		d := v[i] - v[i-1]
		if d < 0 {
			d = v[i]
		}
		if c.length(i) > 0 {
			out[i] = d
		}
	}
	return out
}

func anyCame(v []float64) bool {
	for _, x := range v {
		if x > 0 {
			return true
		}
	}
	return false
}

// sum adds two figures; what neither has was not measured.
func sum(a, b []float64) []float64 {
	out := empty(len(a))
	for i := range out {
		switch {
		case math.IsNaN(a[i]):
			out[i] = b[i]
		case math.IsNaN(b[i]):
			out[i] = a[i]
		default:
			out[i] = a[i] + b[i]
		}
	}
	return out
}
