package snapshot

import (
	"slices"
	"strings"
	"testing"
)

func TestLinesThatAreTooLong(t *testing.T) {
	long := strings.Repeat("x", longestLine+10)
	for text, want := range map[string][]string{
		"":                             nil,
		"one\ntwo":                     {"one", "two"},
		"one\n\ntwo\n":                 {"one", "", "two"},
		"one\n" + long + "\ntwo\n":     {"one", long[:longestLine-1], "two"},
		long:                           {long[:longestLine-1]},
		long + "\n" + long + "\nthree": {long[:longestLine-1], long[:longestLine-1], "three"},
	} {
		data, cut := cutLines([]byte(text))
		if got := slices.Collect(lines(data)); !slices.Equal(got, want) {
			t.Errorf("%.20q: %d lines, want %d", text, len(got), len(want))
		}
		if cut != (len(text) > longestLine) {
			t.Errorf("%.20q: cut is %v", text, cut)
		}
	}
}
