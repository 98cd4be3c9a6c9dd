package page

import (
	"testing"

	"snag/recording"
)

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
