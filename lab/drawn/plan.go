package drawn

import (
	"math/rand/v2"
	"slices"
)

// two is the share of draws in which a second family has a fault at the same time.
const two = 0.1

// Plan lists the runs of n draws: the seeds seed, seed+2, seed+4 and so on, so that all of
// them are even, to develop on, or all odd, to report on. Families come in turns, in an
// order that the first seed draws anew for each turn: n draws of f families are n/f of
// each, give or take one. Each draw is its healthy run, then its faulty one; of a noisy
// family its quiet run, then the healthy one.
func Plan(families []Family, seed uint64, n int) []Case {
	var out []Case
	order := rand.New(rand.NewPCG(seed, 0xd4a))
	var turn []int
	for i := range n {
		if len(turn) == 0 {
			turn = order.Perm(len(families))
		}
		f := families[turn[0]]
		turn = turn[1:]
		c := Case{Seed: seed + 2*uint64(i), Families: []Family{f}}
		if second, ok := secondOf(families, f, c.Seed); ok {
			c.Families = append(c.Families, second)
		}
		out = append(out, RunsOf(c)...)
	}
	return out
}

// RunsOf are the runs of a draw.
func RunsOf(c Case) (out []Case) {
	f := c.Families[0]
	if f.Noisy {
		quiet := c
		quiet.Quiet = true
		out = append(out, quiet)
	}
	out = append(out, c)
	if len(f.Faults) > 0 {
		c.Faulty = true
		out = append(out, c)
	}
	return out
}

// secondOf draws whether a fault of another family comes on top, and which.
func secondOf(families []Family, f Family, seed uint64) (Family, bool) {
	d := NewDraw(seed, "second")
	if !f.mayPair() || !d.Chance("two faults", two) {
		return Family{}, false
	}
	var others []Family
	for _, o := range families {
		if o.Name != f.Name && o.mayPair() {
			others = append(others, o)
		}
	}
	if len(others) == 0 {
		return Family{}, false
	}
	return Pick(d, "second family", others...), true
}

func (f Family) mayPair() bool { return !f.Alone && len(f.Faults) > 0 }

// ShareOf returns the runs of the k-th of n machines, from 0; the runs of one draw stay
// together.
func ShareOf(cases []Case, k, n int) []Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return int(c.Seed/2)%n != k })
}
