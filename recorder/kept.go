package recorder

import (
	"errors"
	"fmt"
	"time"

	"snag/recording"
)

// Kept is the recording of an incident that is read where the ring has the time no more. The zero value: the ring has
// it.
type Kept struct {
	ID          int // of the incident
	First, Last recording.Time
	// File is its recording, beside which earlier times of the host may be kept (recording.EarlierFiles).
	File string
}

// String says what is read in place of the ring.
func (k Kept) String() string {
	return fmt.Sprintf("the ring does not have this time any more; the recording of incident %d is read, which has %s to %s", k.ID, day(k.First), k.Last.Wall().Format(time.TimeOnly+" UTC"))
}

// ReadKept is Read, and of a time that the ring does not have the recording of the incident that covers most of it:
// incidents are kept for longer than the ring.
func (r Ring) ReadKept(from, to recording.Time) (*recording.Recording, Kept, error) {
	out, err := r.Read(from, to)
	var outside *OutsideError
	var none *NoneError
	if !errors.As(err, &outside) && !errors.As(err, &none) {
		return out, Kept{}, err
	}
	all, _ := r.Incidents() // those that can't be read cover nothing
	var found Kept
	var whole *recording.Recording
	for _, i := range all {
		if !i.mayCover(from, to) {
			continue
		}
		one, openErr := recording.OpenOwn(r.Recording(i.ID))
		if openErr != nil {
			continue
		}
		k := Kept{i.ID, one.Manifest.Start, one.Manifest.End, r.Recording(i.ID)}
		if n := k.covers(from, to); n > 0 && (whole == nil || n > found.covers(from, to)) {
			whole, found = one, k
		}
	}
	if whole == nil {
		return nil, Kept{}, err
	}
	return whole.Cut(from, to), found, nil
}

// mayCover reports whether the recording of an incident may have some of a time: it begins before the incident, and
// ends with its last judgement.
func (i Incident) mayCover(from, to recording.Time) bool {
	start := recording.Time(i.Start.UnixNano()).Add(-lead)
	end := start.Add(lead + mostJudged)
	if !i.End.IsZero() {
		end = max(end, recording.Time(i.End.UnixNano()))
	}
	return start <= to && end.Add(settle) >= from
}

// covers is how much of a time the recording has.
func (k Kept) covers(from, to recording.Time) time.Duration {
	return min(to, k.Last).Sub(max(from, k.First))
}
