package page

import (
	"testing"

	"snag/recording"
	"snag/recording/rectest"
)

// A row of the timeline has room for one name: the threads of a process share its row.
func TestEventsNameTheirSubject(t *testing.T) {
	v := profiledVerdict(t)
	v.Recording.Events = []recording.Event{
		{T: rectest.Start, Kind: recording.EventBlocked, Subject: recording.Subject{Kind: recording.KindThread, PID: 812, TID: 814, Name: "thread 814 (worker-2) of api[812]"}},
		{T: rectest.Start, Kind: recording.EventProcessGone, Subject: recording.Subject{Kind: recording.KindProcess, PID: 812, Name: "api[812]"}},
	}
	seen := map[string]bool{}
	for _, e := range New(v, limits[0]).Events {
		seen[e.Kind] = true
		if e.Subject != "api[812]" {
			t.Errorf("%s names %q", e.Kind, e.Subject)
		}
	}
	if !seen["lock-wait"] || !seen[recording.EventBlocked] || !seen[recording.EventProcessGone] {
		t.Errorf("events: %v", seen)
	}
}

func TestValuesOfEventsHaveTheirUnits(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{{0.092, "s", "92 ms"}, {0.25, "ratio", "25 %"}, {12, "signals", "12 signals"}} {
		if got := valueText(recording.Event{Value: c.value, Unit: c.unit}); got != c.want {
			t.Errorf("%g %s reads %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}

func TestWhatLogsTellOfAStreamHasARowOfItsOwn(t *testing.T) {
	stream := recording.Subject{Kind: recording.KindStream, Name: "live/cam1"}
	peer := recording.Subject{Kind: recording.KindPeer, Remote: "10.0.0.7"}
	for _, c := range []struct {
		event recording.Event
		want  string
	}{
		{recording.Event{Kind: recording.EventStreamFreeze, Subject: stream}, "stream-freeze"},
		{recording.Event{Kind: recording.EventLogLine, Subject: stream, Attrs: map[string]string{"what": "published"}}, "log: live/cam1"},
		{recording.Event{Kind: recording.EventLogLine, Subject: peer, Attrs: map[string]string{"what": "reset"}}, "log: reset"},
	} {
		if got := lane(c.event); got != c.want {
			t.Errorf("%+v is in the row %q, want %q", c.event, got, c.want)
		}
	}
}
