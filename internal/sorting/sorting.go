// Package sorting sorts slices of structs with the one algorithm of package sort. The functions of slices are compiled
// anew for every type, 20 kB each, which was a twentieth of the program. Where a list is long and sorted often, the
// functions of slices are faster and stay.
package sorting

import (
	"iter"
	"slices"
	"sort"
)

// By sorts s in the order of cmp, as slices.SortFunc does: equal elements come in any order.
func By[S ~[]E, E any](s S, cmp func(a, b E) int) {
	sort.Slice(s, func(i, j int) bool { return cmp(s[i], s[j]) < 0 })
}

// StableBy sorts s in the order of cmp, as slices.SortStableFunc does: equal elements keep their order.
func StableBy[S ~[]E, E any](s S, cmp func(a, b E) int) {
	sort.SliceStable(s, func(i, j int) bool { return cmp(s[i], s[j]) < 0 })
}

// Collect has the elements of seq in the order of cmp, as slices.SortedFunc does.
func Collect[E any](seq iter.Seq[E], cmp func(a, b E) int) []E {
	s := slices.Collect(seq)
	By(s, cmp)
	return s
}
