package sorting

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type pair struct{ key, place int }

func byKey(a, b pair) int { return cmp.Compare(a.key, b.key) }

// The results are those of slices, for lists with many equal elements.
func TestAsSlices(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		all := make([]pair, n)
		for i := range all {
			all[i] = pair{key: random.IntN(8), place: i}
		}
		stable, got, any := slices.Clone(all), slices.Clone(all), slices.Clone(all)
		slices.SortStableFunc(stable, byKey)
		StableBy(got, byKey)
		if !slices.Equal(got, stable) {
			t.Errorf("%d: %v, want %v", n, got, stable)
		}
		By(any, byKey)
		if !slices.IsSortedFunc(any, byKey) {
			t.Errorf("%d: not in order: %v", n, any)
		}
		if c := Collect(slices.Values(all), byKey); !slices.IsSortedFunc(c, byKey) || len(c) != n {
			t.Errorf("%d: not in order: %v", n, c)
		}
	}
}

func TestNatural(t *testing.T) {
	in := []string{"", "cam", "cam9", "cam10", "cam010b", "cam010ba", "edge-1:80", "edge-1:443", "edge-2:80"}
	for i, a := range in {
		for j, b := range in {
			if got := Natural(a, b); cmp.Compare(got, 0) != cmp.Compare(i, j) {
				t.Errorf("%q and %q: %d", a, b, got)
			}
		}
	}
}
