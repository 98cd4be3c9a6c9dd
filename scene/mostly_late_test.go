package scene

import (
	"fmt"
	"testing"
	"time"

	"snag/recording"
)

// A single answer that is late long before is not when it began; episodes that are alike all count.
func TestMostlyLate(t *testing.T) {
	at := func(from, to int) recording.Interval {
		return recording.Interval{Start: recording.Time(from) * recording.Time(time.Second), End: recording.Time(to) * recording.Time(time.Second)}
	}
	type row struct {
		second int
		late   float64
	}
	for name, c := range map[string]struct {
		rows []row
		want string
	}{
		"one by chance": {[]row{{5, 0.15}, {13, 1}, {14, 2}, {15, 2}, {16, 2}, {17, 2}}, "[13-18]"},
		"two episodes":  {[]row{{5, 1}, {13, 2}, {14, 2}}, "[5-6 13-15]"},
		"a hundred alike": {func() (r []row) {
			for i := range 100 {
				r = append(r, row{2 * i, 1})
			}
			return r
		}(), ""},
		"many small, a few large": {[]row{{1, 0.1}, {3, 0.1}, {5, 0.1}, {7, 0.1}, {9, 0.1}, {11, 0.1}, {13, 0.1}, {20, 5}}, "[1-2 3-4 5-6 7-8 9-10 11-12 13-14 20-21]"},
	} {
		var active []recording.Interval
		var late []float64
		for _, r := range c.rows {
			active, late = append(active, at(r.second, r.second+1)), append(late, r.late)
		}
		got := mostlyLate(active, late)
		text := []string{}
		for _, i := range got {
			text = append(text, fmt.Sprintf("%d-%d", i.Start/recording.Time(time.Second), i.End/recording.Time(time.Second)))
		}
		if c.want == "" && len(got) == 100 {
			continue
		}
		if fmt.Sprint(text) != c.want {
			t.Errorf("%s: %v, want %s", name, text, c.want)
		}
	}
}
