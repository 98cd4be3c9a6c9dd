package ledger

import (
	"maps"
	"math"
	"slices"

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

// stills are the seconds in which a party's processes stood still, in order, each with how long they did until its end
// since the window's start.
type stills struct {
	at    []int
	until []float64
}

func (d demand) stopsOf(by covered) (out stills) {
	seconds := map[int]bool{}
	for _, pid := range d.party.PIDs {
		for at := range by[pid] {
			seconds[at] = true
		}
	}
	out.at = slices.Sorted(maps.Keys(seconds))
	sum := 0.0
	for _, at := range out.at {
		sum += d.covered(at, by)
		out.until = append(out.until, sum)
	}
	return out
}

// before is for how long they stood still before a second began.
func (s stills) before(at int) float64 {
	i, _ := slices.BinarySearch(s.at, at)
	if i == 0 {
		return 0
	}
	return s.until[i-1]
}

// while is for how long the requests that ended in a second were open while a process stood still, at the most: one
// that takes long may have begun before the stop, and is booked to the second in which it ended. Of those that are
// shorter than a stop that matters each has the second's part of it.
func (d demand) while(at int, s stills) (sum float64) {
	for _, one := range d.ended[at] {
		if one.took < longPause {
			sum += one.n * one.took * (s.before(at+1) - s.before(at))
			continue
		}
		began := int(math.Floor(max(0, float64(at)+0.5-one.took)))
		sum += one.n * min(one.took, s.before(at+1)-s.before(began))
	}
	return sum
}
