package watch

import (
	"slices"

	"snag/probes/streams/figures"
	"snag/recording"
)

// stood are the events of a stream that go on: intervals that are open, and that it ended or was refused,
// until its next frame. A recording that begins meanwhile starts with them.
type stood []figures.Event

func (s *stood) take(all []figures.Event) {
	for _, e := range all {
		same := func(o figures.Event) bool { return o.ID == e.ID }
		switch {
		case e.Phase == figures.Ended:
			*s = slices.DeleteFunc(*s, same)
		case e.Phase == figures.Updated || e.Phase == figures.Begun:
			*s = append(slices.DeleteFunc(*s, same), e)
		case e.Kind == recording.EventStreamFirstFrame:
			*s = slices.DeleteFunc(*s, isGone)
		case e.Kind == recording.EventStreamEnded:
			*s = append(slices.DeleteFunc(*s, isGone), e)
		case e.Kind == recording.EventStreamRefused:
			*s = append(slices.DeleteFunc(*s, func(o figures.Event) bool { return o.Kind == e.Kind }), e)
		}
	}
}

// isGone reports whether an event says that the stream is not there.
func isGone(e figures.Event) bool {
	return e.Kind == recording.EventStreamEnded || e.Kind == recording.EventStreamRefused
}
