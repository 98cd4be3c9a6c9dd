package verdict

import (
	"testing"
	"time"

	"snag/recording"
)

var minute = recording.Interval{Start: 1e18, End: 1e18 + 60e9}

func second(s float64) recording.Time { return minute.Start + recording.Time(s*1e9) }

func spansAt(length float64, starts ...float64) []recording.Interval {
	var out []recording.Interval
	for _, s := range starts {
		out = append(out, recording.Interval{Start: second(s), End: second(s + length)})
	}
	return out
}

func onsetsAt(starts ...float64) []recording.Time {
	var out []recording.Time
	for _, s := range starts {
		out = append(out, second(s))
	}
	return out
}

func TestCoincideCountsHitsAgainstChance(t *testing.T) {
	// Six pauses of 1 s with a lag of 1 s fill 12 of 60 s: chance hits 1 in 5.
	pauses := spansAt(1, 3, 13, 26, 31, 44, 52)
	c := Coincide(pauses, onsetsAt(3.5, 14.5, 26.1, 32, 45, 53), minute, time.Second)
	if c.Hits != 6 || c.Onsets != 6 {
		t.Errorf("hits %d of %d, want 6 of 6", c.Hits, c.Onsets)
	}
	if c.Chance < 1.19 || c.Chance > 1.21 {
		t.Errorf("chance %.2f, want 6 × 12/60 = 1.2", c.Chance)
	}
	if !c.Proves() || c.Refutes() {
		t.Errorf("6 of 6 against 1.2 must prove: %+v", c)
	}
}

func TestCoincideRefutesWhatFallsElsewhere(t *testing.T) {
	c := Coincide(spansAt(1, 3, 13, 26, 31, 44, 52), onsetsAt(8, 18, 22, 38, 48, 58), minute, time.Second)
	if c.Hits != 0 || !c.Refutes() || c.Proves() {
		t.Errorf("no onset falls on a pause: %+v", c)
	}
}

func TestCoincideEffectBeforeCauseIsNoHit(t *testing.T) {
	c := Coincide(spansAt(1, 10, 20, 30), onsetsAt(9.5, 19.5, 29.5), minute, time.Second)
	if c.Hits != 0 {
		t.Errorf("onsets half a second before the cause were counted: %+v", c)
	}
}

func TestCoincideFewOnsetsProveNothing(t *testing.T) {
	c := Coincide(spansAt(1, 10, 20), onsetsAt(10.5, 20.5), minute, time.Second)
	if c.Proves() || c.Refutes() || c.String() != "2 of 2, as it happens" {
		t.Errorf("two onsets are as it happens: %+v %q", c, c)
	}
}

func TestCoincideLongCauseProvesNothing(t *testing.T) {
	c := Coincide(spansAt(55, 1), onsetsAt(5, 15, 25, 35, 45), minute, time.Second)
	if c.Proves() || c.Hits != 5 {
		t.Errorf("a cause that fills the window proves nothing: %+v", c)
	}
}

func TestCoincideNothingToCompare(t *testing.T) {
	for _, c := range []Coincidence{
		Coincide(nil, onsetsAt(1, 2, 3), minute, 0),
		Coincide(spansAt(1, 1), nil, minute, 0),
		Coincide(spansAt(1, 1), onsetsAt(1), recording.Interval{}, 0),
	} {
		if c.Proves() || c.Refutes() {
			t.Errorf("nothing to compare decides nothing: %+v", c)
		}
	}
}
