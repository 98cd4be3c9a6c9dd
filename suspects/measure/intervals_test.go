package measure

import (
	"reflect"
	"testing"
	"time"

	"snag/recording"
)

const sec = recording.Time(time.Second)

func spans(pairs ...recording.Time) []recording.Interval {
	var out []recording.Interval
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, recording.Interval{Start: pairs[i] * sec, End: pairs[i+1] * sec})
	}
	return out
}

func rowsAt(n float64, seconds ...recording.Time) Steps {
	var out Steps
	for _, s := range seconds {
		out = append(out, Step{OneSecond(s * sec), n})
	}
	return out
}

func TestStepsOfCounter(t *testing.T) {
	s := recording.Series{Points: []recording.Point{{T: 1 * sec, V: 7}, {T: 2 * sec, V: 7}, {T: 3 * sec, V: 10}, {T: 8 * sec, V: 4}}}
	got := StepsOf(s)
	want := Steps{{spans(2, 3)[0], 3}, {spans(3, 8)[0], 4}} // it began again, from zero, between 3 and 8
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What lies outside of the span that the other instrument saw must not count,
// and a burst at its very edge must not let any two numbers agree.
func TestAgreeIn(t *testing.T) {
	steady := rowsAt(20, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	for _, c := range []struct {
		all    Steps
		count  float64
		from   recording.Time
		to     recording.Time
		agrees bool
	}{
		{steady, 240, 0, 12, true},
		{steady, 120, 3, 9, true},
		{steady, 145, 3, 9, true}, // a row at each edge more
		{steady, 240, 3, 9, false},
		{steady, 60, 3, 9, false},
		{rowsAt(1000, 2), 300, 3, 9, false},
		{rowsAt(1000, 4), 300, 3, 9, false},
		{rowsAt(1, 4, 5), 4, 3, 9, true}, // two more or less tell nothing
	} {
		n, ok := c.all.AgreeIn(c.count, recording.Interval{Start: c.from * sec, End: c.to * sec})
		if ok != c.agrees {
			t.Errorf("%v in %d–%d s: %v counted, agree is %v", c.count, c.from, c.to, n, ok)
		}
	}
}

func TestCounterOfNamespace(t *testing.T) {
	points := func(v float64) []recording.Point { return []recording.Point{{T: 0, V: 0}, {T: sec, V: v}} }
	r := &recording.Recording{Series: []recording.Series{
		{Name: "c", Labels: recording.Labels{}, Points: points(1)},
		{Name: "c", Labels: recording.Labels{"netns": "7"}, Points: points(2)},
		{Name: "c", Labels: recording.Labels{"netns": "8"}, Points: points(2)[:1]},
	}}
	r.Manifest.Netns = 5
	for netns, want := range map[uint64]float64{0: 1, 5: 1, 7: 2} {
		if got, ok := Grew(r, netns, "c"); !ok || got != want {
			t.Errorf("netns %d: %v %v, want %v", netns, got, ok, want)
		}
	}
	for _, netns := range []uint64{8, 9} { // seen once, never: not measured
		if got, ok := Grew(r, netns, "c"); ok {
			t.Errorf("netns %d: %v, want not measured", netns, got)
		}
	}
}
