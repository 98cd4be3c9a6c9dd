package offcpu

import (
	"testing"
	"time"
)

func TestWhatTakesMuchOfACPUIsGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	full := effort{Threshold: leastThreshold, Rate: fullRate}
	few := effort{Threshold: leastThreshold, Rate: leastRate}
	for _, c := range []struct {
		name    string
		e       effort
		busiest float64
		over    bool
		want    effort
		goesOn  bool
	}{
		{"little", full, 0.01, false, full, true},
		{"over, but little: each second decides", few, 0.03, true, few, true},
		{"much: stacks go first", full, 0.2, false, few, true},
		{"much and over: stacks go first", full, 0.2, true, few, true},
		{"much, stacks have gone, within the budget", few, 0.2, false, few, true},
		{"much and over: then the threshold", few, 0.2, true, least, true},
		{"much and over, and nothing to give up", least, 0.2, true, least, false},
	} {
		got, ok := c.e.hurry(c.busiest, 0.02, c.over)
		if got != c.want || ok != c.goesOn {
			t.Errorf("%s: %+v, %v, want %+v, %v", c.name, got, ok, c.want, c.goesOn)
		}
	}
}

// From full effort it takes three looks, a tenth of a second each, to end.
func TestItEndsWithinAFewLooks(t *testing.T) {
	t.Parallel()
	e, looks, ok := effort{Threshold: leastThreshold, Rate: fullRate}, 0, true
	for ok && looks < 10 {
		e, ok = e.hurry(0.5, 0.02, true)
		looks++
	}
	if took := time.Duration(looks) * period; ok || took > 400*time.Millisecond {
		t.Errorf("after %v: %+v, goes on: %v", took, e, ok)
	}
}
