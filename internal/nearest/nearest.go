// Package nearest guesses what a mistyped name was meant to be.
package nearest

import (
	"cmp"
	"slices"
	"strings"

	"snag/internal/sorting"
)

// mostNearest is how many suggestions help: with more, the list of all is the better answer.
const mostNearest = 3

// Names returns the names that a mistyped one was most likely meant to be, best first: those it begins, those
// it is a word of, and those that differ in few letters (allowed). Of net.core.rmem_max the last part is compared too.
func Names(typed string, names []string) []string {
	type scored struct {
		name  string
		score int
	}
	typed = strings.ToLower(typed)
	if typed == "" {
		return nil
	}
	var all []scored
	for _, name := range names {
		lower := strings.ToLower(name)
		far := min(distance(typed, lower), distance(typed, lower[strings.LastIndexByte(lower, '.')+1:]))
		switch {
		case len(typed) > 1 && strings.HasPrefix(lower, typed):
			far = 0
		case len(typed) > 2 && slices.Contains(words(lower), typed):
			far = 1
		case far > allowed(len(typed)):
			continue
		}
		all = append(all, scored{name, far})
	}
	sorting.StableBy(all, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	var out []string
	for _, s := range all[:min(len(all), mostNearest)] {
		out = append(out, s.name)
	}
	return out
}

// allowed is how many letters of a word may be wrong: of a short one a few wrong letters make any other.
func allowed(length int) int {
	switch {
	case length < 3:
		return 0
	case length < 4:
		return 1
	}
	return max(1, (length+1)/3)
}

func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_. ", r) })
}

// distance counts the letters that are added, left out, replaced, or swapped with the next one (optimal string
// alignment), in bytes. What is longer than any name has no distance that matters.
func distance(a, b string) int {
	const longest = 64
	if len(a) > longest || len(b) > longest {
		return len(a) + len(b)
	}
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// DidYouMean is the question that follows a mistyped name, after a semicolon; "" where no name is near. show
// makes of a name what is typed.
func DidYouMean(typed string, names []string, show func(string) string) string {
	near := Names(typed, names)
	if len(near) == 0 {
		return ""
	}
	for i, name := range near {
		near[i] = show(name)
	}
	last := len(near) - 1
	text := near[last]
	if last > 0 {
		text = strings.Join(near[:last], ", ") + " or " + text
	}
	return "; did you mean " + text + "?"
}
