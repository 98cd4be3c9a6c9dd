package main

import "slices"

const (
	// fewest are the requests of a connection from which its interval can be told.
	fewest = 20
	// window is how many of them have their origin in common: clocks drift, and so do generators whose interval is
	// not quite what was asked for.
	window = 100
)

// latenesses are how late each request was sent, in ns, from when the requests of each connection arrived. When they
// were due is not known from outside: that it was at even intervals is. The interval of a connection is the median
// over all pairs that are half of the run apart (P. Sen, "Estimates of the Regression Coefficient Based on Kendall's
// Tau", 1968), and of each window the request that is earliest by it was in time.
func latenesses(arrivals [][]int64) (out []float64) {
	for _, at := range arrivals {
		if len(at) < fewest {
			continue
		}
		half := len(at) / 2
		var intervals []float64
		for i := range half {
			intervals = append(intervals, float64(at[i+half]-at[i])/float64(half))
		}
		interval := quantile(intervals, 0.5)
		for from := 0; from < len(at); from += window {
			piece := at[from:min(from+window, len(at))]
			if len(piece) < fewest {
				continue
			}
			var off []float64
			for i, a := range piece {
				off = append(off, float64(a-piece[0])-float64(i)*interval)
			}
			first := slices.Min(off)
			for _, o := range off {
				out = append(out, o-first)
			}
		}
	}
	return out
}

func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}
