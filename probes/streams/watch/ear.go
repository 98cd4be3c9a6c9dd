package watch

import (
	"context"
	"sync"
	"sync/atomic"
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
	p     *Pictures
	slots chan struct{} // of the decoders
	wants atomic.Bool

	// Only the tick, under the watcher's lock.
	due   int64  // when the next is wanted, monotonic ns
	since int64  // since when one is
	noted bool   // that something was not measured
	ids   uint64 // of events

	mu      sync.Mutex
	busy    bool // one is being decoded
	judge   sound.Judge
	changes []sound.Change
	failed  string // why the last could not be decoded
	taken   int    // that came
}

var _ stream.Sounds = (*ear)(nil)

// Wanted implements stream.Sounds.
func (e *ear) Wanted() bool { return e.wants.Load() }

// Sound implements stream.Sounds.
func (e *ear) Sound(s stream.Sound, at int64) {
	if !e.wants.Swap(false) {
		return
	}
	e.mu.Lock()
	e.busy, e.taken = true, e.taken+1
	e.mu.Unlock()
	go e.decode(s, at)
}

func (e *ear) decode(s stream.Sound, at int64) {
	e.slots <- struct{}{}
	level, err := e.p.Listen(context.Background(), s)
	<-e.slots
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy = false; err != nil {
		e.failed = Clean(err.Error(), 300)
		return
	}
	e.changes = append(e.changes, e.judge.Next(at, level)...)
}

// open tells whether audio is wanted or being decoded.
func (e *ear) open() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.busy || e.wants.Load()
}

// turn asks for the next second of a stream whose audio comes, where it is time and there is room, and
// tells whether it did; note is what a person must know, "" for nothing.
func (e *ear) turn(now int64, room bool) (asked bool, note string) {
	e.mu.Lock()
	busy, failed, taken := e.busy, e.failed, e.taken
	e.failed = ""
	e.mu.Unlock()
	switch {
	case failed != "":
		note = failed
	case e.wants.Load() && now-e.since > int64(longestSoundWait) && e.wants.Swap(false) && taken == 0:
		note = "no audio came in " + short(longestSoundWait) + " that can be decoded (AAC, MP2, MP3, AC-3, E-AC-3 and G.711 are, not of every protocol: docs/watch.md)"
	}
	if e.noted && note != "" {
		note = ""
	}
	e.noted = e.noted || note != ""
	if busy || e.wants.Load() || now < e.due || !room {
		return false, note
	}
	e.since, e.due = now, now+int64(e.p.Every)
	e.wants.Store(true)
	return true, note
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
