package ledger

import (
	"math"

	"snag/recording"
)

// lasted is how many requests took so long, in seconds.
type lasted struct{ n, took float64 }

// lastedOf are a row's requests by how long they took, with the row's own sum.
func lastedOf(row recording.Turns) (out []lasted) {
	sum := 0.0
	for i, n := range row.Hist {
		if n > 0 {
			one := lasted{float64(n), (recording.TurnBound(i) + recording.TurnBound(i+1)) / 2}
			out, sum = append(out, one), sum+one.n*one.took
		}
	}
	for i := range out {
		out[i].took *= row.Sum / sum
	}
	return out
}

// while is for how long the requests that ended in a second were open while a process stood still, at the most: one
// that takes long may have begun before the stop, and is booked to the second in which it ended. Of those that are
// shorter than a stop that matters each has the second's part of it.
func (d demand) while(at int, by covered) (sum float64) {
	for _, one := range d.ended[at] {
		if one.took < longPause {
			sum += one.n * one.took * d.covered(at, by)
			continue
		}
		still := 0.0
		for i := int(math.Floor(float64(at) + 0.5 - one.took)); i <= at; i++ {
			still += d.covered(i, by)
		}
		sum += one.n * min(one.took, still)
	}
	return sum
}
