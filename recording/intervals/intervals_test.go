package intervals

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

func TestMerge(t *testing.T) {
	for _, c := range []struct{ in, want []recording.Interval }{
		{nil, nil},
		{spans(5, 6, 1, 2), spans(1, 2, 5, 6)},
		{spans(1, 2, 2, 3, 4, 5), spans(1, 5)}, // one tick between two active seconds joins them
		{spans(1, 9, 2, 3), spans(1, 9)},
		{spans(1, 0, 7, 8), spans(1, 0)}, // still going on
		{spans(1, 2, 3, 0), spans(1, 0)},
	} {
		if got := Merge(c.in, 1500*time.Millisecond); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.in, got, c.want)
		}
	}
}

func TestOverlap(t *testing.T) {
	if got := Overlap(spans(1, 4, 8, 0), spans(3, 9), 20*sec); got != 2*time.Second {
		t.Errorf("got %v, want 2 s", got)
	}
}

// What lies in a window and what does not are the window.
// What lies near is all that overlaps, whatever is asked.
func TestNear(t *testing.T) {
	all := spans(1, 10, 20, 30, 40, 50, 60, 0)
	for from := recording.Time(0); from < 70; from++ {
		for to := from; to < 72; to++ {
			one := spans(from, to+1)
			if to == from {
				one[0].End = 0 // open
			}
			if got, want := Overlap(Near(all, one[0]), one, 80*sec), Overlap(all, one, 80*sec); got != want {
				t.Fatalf("%d to %d: %s, want %s", from, to, got, want)
			}
		}
	}
	if n := len(Near(all, spans(30, 40)[0])); n != 0 {
		t.Errorf("%d touch what lies between two", n)
	}
}

func TestClipAndRest(t *testing.T) {
	window := spans(2, 10)[0]
	for _, c := range []struct{ all, inside, rest []recording.Interval }{
		{nil, nil, spans(2, 10)},
		{spans(1, 3, 5, 6), spans(2, 3, 5, 6), spans(3, 5, 6, 10)},
		{spans(8, 0), spans(8, 10), spans(2, 8)},
		{spans(0, 1, 11, 12), nil, spans(2, 10)},
	} {
		in := Clip(c.all, window)
		if !reflect.DeepEqual(in, c.inside) {
			t.Errorf("%v: %v lies inside, want %v", c.all, in, c.inside)
		}
		if rest := Rest(in, window); !reflect.DeepEqual(rest, c.rest) {
			t.Errorf("%v: %v is the rest, want %v", c.all, rest, c.rest)
		}
	}
}

func TestOutside(t *testing.T) {
	got := Outside(spans(1, 5, 8, 9, 12, 20), spans(0, 2, 4, 10, 15, 16))
	if want := spans(2, 4, 12, 15, 16, 20); !reflect.DeepEqual(got, want) {
		t.Errorf("%v lies outside, want %v", got, want)
	}
}

func TestTotal(t *testing.T) {
	if got := Total(spans(1, 3, 8, 0), 10*sec); got != 4*time.Second {
		t.Errorf("got %v, want 4 s", got)
	}
	if !Cover(spans(1, 3, 8, 0), 100*sec) || Cover(spans(1, 3, 8, 0), 5*sec) {
		t.Error("an open interval covers all that comes after its start, and a gap is covered by none")
	}
}
