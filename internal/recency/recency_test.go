package recency

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type entry struct {
	name  int
	links Links[entry]
}

func (e *entry) Recency() *Links[entry] { return &e.links }

// A slice in the same order is the reference.
func TestOrderIsThatOfUse(t *testing.T) {
	var l List[entry, *entry]
	var want []*entry
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 5000 {
		switch at := r.IntN(len(want) + 1); {
		case at == len(want) || r.IntN(3) == 0:
			e := &entry{name: n}
			l.Add(e)
			want = append(want, e)
		case r.IntN(3) == 0:
			l.Remove(want[at])
			want = slices.Delete(want, at, at+1)
		default:
			e := want[at]
			l.Use(e)
			want = append(slices.Delete(want, at, at+1), e)
		}
		var got []*entry
		for e := l.Newest(); e != nil; e = l.Older(e) {
			got = append(got, e)
		}
		slices.Reverse(got)
		if !slices.Equal(got, want) || len(want) > 0 && l.Oldest() != want[0] || len(want) == 0 && l.Oldest() != nil {
			t.Fatalf("after %d steps: %d entries in another order than %d", n+1, len(got), len(want))
		}
	}
}
