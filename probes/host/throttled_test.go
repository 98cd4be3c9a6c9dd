package host

import (
	"testing"

	"snag/recording"
)

func TestThrottledSpan(t *testing.T) {
	var s throttledSpan
	var ended []recording.Event
	for i, r := range []throttling{
		{10, 5, 1}, {20, 5, 1}, {30, 9, 1.5}, {40, 12, 2}, {50, 12, 2}, {60, 12, 2}, {70, 13, 2.25}, {1, 0, 0}, {11, 4, 0.5},
	} {
		if e := s.next(recording.Time(i+1)*1e9, "/api", r); e != nil {
			ended = append(ended, *e)
		}
	}
	if len(ended) != 2 {
		t.Fatalf("%+v", ended)
	}
	a, b := ended[0], ended[1]
	if a.T != 2e9 || a.End != 5e9 && a.End != 4e9 || a.Value != 1 || a.Attrs["throttled"] != "7" || a.Attrs["periods"] != "20" || a.Subject.Cgroup != "/api" {
		t.Errorf("%+v", a)
	}
	if a.End != 4e9 {
		t.Errorf("it ended with the last reading that grew: %v", a.End)
	}
	if b.T != 6e9 || b.End != 7e9 || b.Value != 0.25 {
		t.Errorf("the group was made anew: %+v", b)
	}
	if e := s.end(0); e == nil || e.End != 0 || e.Value != 0.5 {
		t.Errorf("what goes on has no end: %+v", e)
	}
}
