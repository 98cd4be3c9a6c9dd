package picture

import (
	"time"

	"snag/recording"
)

// Change is something about the picture that begins or ends.
type Change struct {
	Kind  string // one of recording.EventStream…
	Ended bool
	Start int64 // arrival of the first picture that is so, monotonic ns
	End   int64 // of what ends: of the first that is not
	N     int   // pictures that are so until now
}

// How many pictures are so until it is told: a cut through black is not.
const (
	leastDark  = 2
	leastAlike = 4
)

// leastStill is how long a picture is the same until that is told.
const leastStill = int64(30 * time.Second)

// Judge follows the pictures of one stream. The zero value is ready.
type Judge struct {
	first Grey // of those that are alike
	runs  [3]run
	stood Change // what was told as begun and not as ended; no Kind: nothing
	at    int64
	seen  uint64
}

// run is how long the pictures are black, plain, or the same.
type run struct {
	n    int
	from int64
}

var kinds = [3]string{recording.EventStreamBlack, recording.EventStreamPlain, recording.EventStreamStill}

// Seen is how many pictures were judged, and when the last came.
func (j *Judge) Seen() (n uint64, last int64) { return j.seen, j.at }

// Stands is what was told of the picture and still is; "" for nothing.
func (j *Judge) Stands() string { return j.stood.Kind }

// Next takes a picture that came at at, and returns what begins or ends with it. One thing stands at
// a time: what is black or plain is the same too.
func (j *Judge) Next(at int64, g Grey) (out []Change) {
	if j.at != 0 && at <= j.at || len(g) != fullPoints {
		return nil
	}
	j.seen, j.at = j.seen+1, at
	j.runs[0].next(at, g.Black())
	j.runs[1].next(at, g.Plain())
	if !Alike(j.first, g) {
		j.first, j.runs[2] = g, run{}
	}
	j.runs[2].next(at, true)
	kind, of := "", run{}
	switch r := j.runs; {
	case r[0].n >= leastDark:
		kind, of = kinds[0], r[0]
	case r[1].n >= leastDark:
		kind, of = kinds[1], r[1]
	case r[2].n >= leastAlike && at-r[2].from >= leastStill:
		kind, of = kinds[2], r[2]
	}
	if kind == j.stood.Kind {
		j.stood.N = of.n
		return nil
	}
	out = j.end(at)
	if kind != "" {
		j.stood = Change{Kind: kind, Start: of.from, N: of.n}
		out = append(out, j.stood)
	}
	return out
}

func (r *run) next(at int64, so bool) {
	switch {
	case !so:
		*r = run{}
	case r.n == 0:
		*r = run{1, at}
	default:
		r.n++
	}
}

func (j *Judge) end(at int64) []Change {
	c := j.stood
	if j.stood = (Change{}); c.Kind == "" {
		return nil
	}
	c.Ended, c.End = true, max(at, c.Start)
	return []Change{c}
}

// Forget ends what stands at a time, and begins anew.
func (j *Judge) Forget(at int64) []Change {
	out := j.end(at)
	*j = Judge{seen: j.seen, at: j.at}
	return out
}
