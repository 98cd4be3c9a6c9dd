package recorder

import (
	"errors"
	"time"

	"snag/recording"
)

// Earlier times are read at these distances before a range, each for earlierLength; those of the last
// hour have the full resolution.
var earlierAt = []time.Duration{5 * time.Minute, 20 * time.Minute, 50 * time.Minute, 24 * time.Hour, 7 * 24 * time.Hour}

const (
	earlierLength = 30 * time.Second
	// An incident within this distance may have begun before it was noticed, and its end too.
	nearIncident = time.Minute
)

// Earlier returns what the ring has of earlier times of the host, to compare a range that begins at from
// with. It skips incidents. Nobody says that those times were good.
func (r Ring) Earlier(from recording.Time) ([]*recording.Recording, error) {
	incidents, err := r.Incidents()
	if err != nil && len(incidents) == 0 {
		return nil, err
	}
	var out []*recording.Recording
	for _, before := range earlierAt {
		begin := from.Add(-before)
		end := begin.Add(earlierLength)
		if during(incidents, begin, end) {
			continue
		}
		one, err := r.Read(begin, end)
		var outside *OutsideError
		if errors.As(err, &outside) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// during reports whether an incident overlaps a time range.
func during(incidents []Incident, from, to recording.Time) bool {
	for _, i := range incidents {
		begin, end := recording.Time(i.Start.UnixNano()), recording.Time(i.End.UnixNano())
		if i.End.IsZero() {
			end = to // it may not be over
		}
		if begin.Add(-nearIncident) < to && end.Add(nearIncident) > from {
			return true
		}
	}
	return false
}
