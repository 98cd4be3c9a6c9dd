package watch

import (
	"context"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/sound"
	"snag/probes/streams/stream"
	"snag/recording"
)

// longestSoundWait is how long a second of audio is waited for: HLS gives none until the next segment.
const longestSoundWait = 30 * time.Second

// ear listens to one stream's audio. It is a stream.Sounds: its reader hands it a second at a time,
// which is forgotten once it is decoded.
type ear struct {
	turns
	p   *Pictures
	ids uint64 // of events; only the tick

	// Under the lock.
	judge   sound.Judge
	changes []sound.Change
}

var _ stream.Sounds = (*ear)(nil)

// noSound is told of a stream of which none came.
var noSound = "no audio came in " + short(longestSoundWait) + " that can be decoded (AAC, MP2, MP3, AC-3, E-AC-3 and G.711 are, not of every protocol: docs/watch.md)"

// Sound implements stream.Sounds.
func (e *ear) Sound(s stream.Sound, at int64) {
	e.take(func() (func(), error) {
		level, err := e.p.Listen(context.Background(), s)
		return func() { e.changes = append(e.changes, e.judge.Next(at, level)...) }, err
	})
}

// leave ends what stands: the stream is not being read, or has no audio.
func (e *ear) leave(now int64) {
	e.wants.Store(false)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changes = append(e.changes, e.judge.Forget(now)...)
}

// events appends what began and ended.
func (e *ear) events(to []figures.Event) []figures.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.changes {
		v := figures.Event{Phase: figures.Begun, Kind: recording.EventStreamSilentAudio, Start: c.Start, End: c.End, Of: stream.Audio, Value: float64(c.N), Unit: "seconds"}
		if c.Ended {
			v.Phase = figures.Ended
		} else {
			e.ids++
		}
		v.ID = earIDs + e.ids // one stands at a time
		to = append(to, v)
	}
	e.changes = e.changes[:0]
	return to
}

// earIDs are beyond those of a Meter's events and of an eye's.
const earIDs = eyeIDs + 1<<62

// What an ear hears.
const (
	hearsOK     = "ok"
	hearsSilent = "silent"
)

// hears is how the audio is; "" where it was not measured of late.
func (e *ear) hears(now int64) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, last := e.judge.Seen()
	switch {
	case n == 0 || now-last > int64(3*e.p.Every+longestSoundWait):
		return ""
	case e.judge.Silent():
		return hearsSilent
	}
	return hearsOK
}

// seen is how many seconds of audio were judged.
func (e *ear) seen() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, _ := e.judge.Seen()
	return n
}
