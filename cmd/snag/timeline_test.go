package main

import (
	"slices"
	"testing"

	"snag/recording"
)

func TestTimelineIsOfOneSubjectInOrder(t *testing.T) {
	stream := func(name string) recording.Subject { return recording.Subject{Kind: recording.KindStream, Name: name} }
	r := &recording.Recording{Events: []recording.Event{
		{T: 9e9, End: 9e9, Kind: recording.EventLogLine, Subject: stream("live/cam1"), Attrs: map[string]string{"what": "unpublished", "file": "a.log", "host": "web-1"}, Value: 1},
		{T: 2e9, End: 2e9, Kind: recording.EventLogLine, Subject: stream("live/cam1"), Attrs: map[string]string{"what": "published", "file": "a.log"}, Value: 1},
		{T: 3e9, End: 5e9, Kind: recording.EventStreamFreeze, Subject: stream("live/cam1"), Attrs: map[string]string{"file": "b.log"}},
		{T: 4e9, End: 4e9, Kind: recording.EventLogLine, Subject: stream("live/cam2"), Attrs: map[string]string{"what": "play"}},
		{T: 6e9, End: 7e9, Kind: recording.EventLogLine, Subject: recording.Subject{Kind: recording.KindPeer, Remote: "10.0.0.7:80"}, Attrs: map[string]string{"what": "reset"}, Value: 12},
	}}
	want := []string{
		"00:00:02.000  published  [a.log]",
		"00:00:03.000  stream-freeze for 2 s  [b.log]",
		"00:00:09.000  unpublished  [web-1 a.log]",
	}
	for _, subject := range []string{"live/cam1", "cam1"} {
		if got := timelineOf(r, subject); !slices.Equal(got, want) {
			t.Errorf("%s: %q", subject, got)
		}
	}
	if got := timelineOf(r, "10.0.0.7"); len(got) != 1 || got[0] != "00:00:06.000  reset (12 lines)" {
		t.Errorf("%q", got)
	}
	if got := timelineOf(r, "am1"); len(got) != 0 {
		t.Errorf("a part of a name is not a name: %q", got)
	}
}
