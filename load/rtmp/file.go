package rtmp

import (
	"time"

	"snag/internal/rtmp"
)

// File is what a publisher sends: the tags of an FLV file, again from the beginning when it is over.
type File struct {
	Tags  []rtmp.Tag
	stamp []time.Duration // of each tag, after the first one's
	due   []time.Duration // the same, but never before the tag before: audio and video are not in one order
	every time.Duration   // when the file begins anew: its pictures, or its audio, go on evenly
}

// NewFile reads an FLV file.
func NewFile(b []byte) (f File, err error) {
	if f.Tags, err = rtmp.ReadFLV(b); err != nil {
		return f, err
	}
	stamp, due, last := time.Duration(0), time.Duration(0), f.Tags[0].Stamp
	var pictures, sounds []time.Duration
	for i := range f.Tags {
		t := &f.Tags[i]
		stamp += time.Duration(int32(t.Stamp-last)) * time.Millisecond // it wraps
		last = t.Stamp
		due = max(due, stamp)
		f.stamp, f.due = append(f.stamp, max(stamp, 0)), append(f.due, due)
		m := rtmp.Message{Header: rtmp.Header{Type: t.Type, Length: uint32(len(t.Body))}, Head: t.Body}
		switch {
		case m.Picture():
			pictures = append(pictures, stamp)
		case m.Sound():
			sounds = append(sounds, stamp)
		}
	}
	if len(pictures) == 0 {
		pictures = sounds
	}
	f.every = spacing(pictures)
	if n := len(pictures); n > 0 {
		f.every += max(pictures[n-1]-pictures[0], 0)
	}
	return f, nil
}

// usualSpacing is that of 25 frames per second.
const usualSpacing = 40 * time.Millisecond

// spacing is the time between two pictures, on average.
func spacing(at []time.Duration) time.Duration {
	if n := len(at); n > 1 && at[n-1] > at[0] {
		return (at[n-1] - at[0]) / time.Duration(n-1)
	}
	return usualSpacing
}

// next is when tag i of all that are sent is due, and with which timestamp. The end of one round may lie after the
// beginning of the next: what is due is never before what was sent.
func (f File) next(i int) (due time.Duration, stamp uint32, tag *rtmp.Tag) {
	n := len(f.Tags)
	round := time.Duration(i/n) * f.every
	if due = round + f.due[i%n]; i >= n {
		due = max(due, round-f.every+f.due[n-1])
	}
	return due, uint32((round + f.stamp[i%n]).Milliseconds()), &f.Tags[i%n]
}

// Rate is tags per second.
func (f File) Rate() float64 {
	if f.every <= 0 {
		return 0
	}
	return float64(len(f.Tags)) / f.every.Seconds()
}

// Length is how long the file lasts.
func (f File) Length() time.Duration { return f.every }
