package watch

import (
	"context"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/picture"
	"snag/probes/streams/sound"
	"snag/probes/streams/stream"
)

// Pictures is how key pictures of the streams are looked at, and their audio is listened to
// (--picture).
type Pictures struct {
	Every time.Duration // of a stream, at the most
	// Decode makes a picture of a key picture's bytes.
	Decode func(ctx context.Context, codec string, b []byte) (picture.Picture, error)
	// Listen gives the level of a second of audio; nil: nobody listens.
	Listen func(ctx context.Context, s stream.Sound) (sound.Level, error)
}

// Bounds of it.
const (
	mostDecoding = 2                // decoders at a time, of pictures and audio
	mostWanted   = 64               // key pictures that are waited for, kept or decoded at a time, of all streams; and as many seconds of audio
	longestGOP   = 30 * time.Second // a key picture is waited for so long; then others have their turn
)

// eye looks at one stream's pictures. It is a stream.Keys: its reader hands it a key picture at a
// time, which is forgotten once it is decoded.
type eye struct {
	turns
	p   *Pictures
	ids uint64 // of events; only the tick

	// Under the lock.
	judge   picture.Judge
	changes []picture.Change
}

var _ stream.Keys = (*eye)(nil)

// noKey is told of a stream of which none came.
var noKey = "no key picture came in " + short(longestGOP) + " that can be decoded (H.264 and HEVC are, of all protocols but those that ffprobe reads)"

// Key implements stream.Keys.
func (e *eye) Key(codec string, b []byte, at int64) {
	e.take(func() (func(), error) {
		g, err := e.p.Decode(context.Background(), codec, b)
		return func() { e.changes = append(e.changes, e.judge.Next(at, g)...) }, err
	})
}

// leave ends what stands: the stream is not being read.
func (e *eye) leave(now int64) {
	e.wants.Store(false)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changes = append(e.changes, e.judge.Forget(now)...)
}

// events appends what began and ended.
func (e *eye) events(to []figures.Event) []figures.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.changes {
		v := figures.Event{Phase: figures.Begun, Kind: c.Kind, Start: c.Start, End: c.End, Of: stream.Video, Value: float64(c.N), Unit: "pictures"}
		if c.Ended {
			v.Phase = figures.Ended
		} else {
			e.ids++
		}
		v.ID = eyeIDs + e.ids // one stands at a time
		to = append(to, v)
	}
	e.changes = e.changes[:0]
	return to
}

// eyeIDs are beyond those of a Meter's events.
const eyeIDs = 1 << 63

// sees is how the picture is: "ok", a state's name, "" where it was not measured of late.
func (e *eye) sees(now int64) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, last := e.judge.Seen()
	if n == 0 || now-last > int64(3*e.p.Every+longestGOP) {
		return ""
	}
	if s := pictureState(e.judge.Stands()); s != OK {
		return s.String()
	}
	return OK.String()
}

// seen is how many pictures were judged.
func (e *eye) seen() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, _ := e.judge.Seen()
	return n
}
