package recorder

import (
	"testing"
	"time"

	"snag/recording"
)

func TestEarlierTimesLeaveIncidentsOut(t *testing.T) {
	at := func(minute float64) recording.Time {
		return recording.Time(time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC).Add(time.Duration(minute * float64(time.Minute))).UnixNano())
	}
	over := Incident{ID: 1, Start: at(10).Wall(), End: at(12).Wall()}
	open := Incident{ID: 2, Start: at(30).Wall()}
	for _, c := range []struct {
		from, to float64
		during   bool
	}{
		{5, 5.5, false}, {8.8, 9.3, true}, {11, 11.5, true}, {12.5, 13, true}, {13.1, 13.6, false},
		{28, 28.5, false}, {29.5, 30, true}, {50, 50.5, true},
	} {
		if got := during([]Incident{over, open}, at(c.from), at(c.to)); got != c.during {
			t.Errorf("%v to %v: %v", c.from, c.to, got)
		}
	}
}
