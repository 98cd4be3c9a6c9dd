package sound

import "time"

// How much audio is silent until that is told: a pause in what is said is not.
const (
	leastSilent  = 4 // seconds of audio that were decoded
	leastSilence = int64(30 * time.Second)
)

// Change is a silence that begins or ends.
type Change struct {
	Ended bool
	Start int64 // arrival of the first audio that is silent, monotonic ns
	End   int64 // of what ends: of the first that is not
	N     int   // seconds of audio that were decoded and are silent until now
}

// Judge follows the audio of one stream. The zero value is ready.
type Judge struct {
	n     int // that are silent, in a row
	from  int64
	stood bool // it was told as begun and not as ended
	at    int64
	seen  uint64
}

// Seen is how often audio was judged, and when what was judged last came.
func (j *Judge) Seen() (n uint64, last int64) { return j.seen, j.at }

// Silent reports whether a silence was reported and goes on.
func (j *Judge) Silent() bool { return j.stood }

// Next takes the level of audio that came at at, and returns what begins or ends with it.
func (j *Judge) Next(at int64, l Level) []Change {
	if j.at != 0 && at <= j.at {
		return nil
	}
	j.seen, j.at = j.seen+1, at
	if !l.Silent() {
		return j.end(at)
	}
	if j.n == 0 {
		j.from = at
	}
	if j.n++; j.stood || j.n < leastSilent || at-j.from < leastSilence {
		return nil
	}
	j.stood = true
	return []Change{{Start: j.from, N: j.n}}
}

func (j *Judge) end(at int64) (out []Change) {
	if j.stood {
		out = []Change{{Ended: true, Start: j.from, End: max(at, j.from), N: j.n}}
	}
	j.n, j.from, j.stood = 0, 0, false
	return out
}

// Forget ends what stands at a time, and begins anew.
func (j *Judge) Forget(at int64) []Change { return j.end(at) }
