package knob

import (
	"fmt"
	"strconv"
	"strings"

	"snag/remedies/plan"
)

// Fit brings a value that was computed into the range that a knob takes, and says what
// keeps it from being one.
func Fit(t plan.Target, value string) (string, error) {
	k, ok := Kinds[t.Kind]
	if !ok {
		return "", fmt.Errorf("snag changes no %q", t.Kind)
	}
	if s, err := sysctlOf(t.Name); t.Kind == "sysctl" && err == nil && len(s.Words) == 0 {
		value = within(value, s.Min, s.Max)
	}
	if err := k.Valid(t, value); err != nil {
		return "", err
	}
	return value, nil
}

// within brings each number of a value into its bounds.
func within(value string, least, most int64) string {
	f := strings.Fields(value)
	for i, text := range f {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			f[i] = strconv.FormatInt(min(most, max(least, n)), 10)
		}
	}
	return strings.Join(f, " ")
}
