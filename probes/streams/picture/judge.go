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
	leastGarbled = 2
	leastDark    = 2
	leastAlike   = 4
)

// leastStill is how long a picture is the same until that is told.
const leastStill = int64(30 * time.Second)

// Judge follows the pictures of one stream. The zero value is ready.
type Judge struct {
	first Grey // of those that are alike
	runs  [4]run
	stood Change // what was told as begun and not as ended; no Kind: nothing
	at    int64
	seen  uint64
}

// run is how long the pictures are garbled, black, plain, or the same.
type run struct {
	n    int
	from int64
}

var kinds = [4]string{recording.EventStreamGarbled, recording.EventStreamBlack, recording.EventStreamPlain, recording.EventStreamStill}

// Seen is how many pictures were judged, and when the last came.
func (j *Judge) Seen() (n uint64, last int64) { return j.seen, j.at }

// Stands is what was told of the picture and still is; "" for nothing.
func (j *Judge) Stands() string { return j.stood.Kind }

// Next takes a picture that came at at, and returns what begins or ends with it. One thing stands at
// a time: what is black or plain is the same too, and what is garbled is judged no further, for its
// points are what the decoder made up.
func (j *Judge) Next(at int64, p Picture) (out []Change) {
	if j.at != 0 && at <= j.at || len(p.Grey) != fullPoints {
		return nil
	}
	j.seen, j.at = j.seen+1, at
	j.runs[0].next(at, p.Garbled)
	j.runs[1].next(at, !p.Garbled && p.Black())
	j.runs[2].next(at, !p.Garbled && p.Plain())
	if p.Garbled || !Alike(j.first, p.Grey) {
		j.first, j.runs[3] = p.Grey, run{}
	}
	j.runs[3].next(at, !p.Garbled)
	kind, of := "", run{}
	switch r := j.runs; {
	case r[0].n >= leastGarbled:
		kind, of = kinds[0], r[0]
	case r[1].n >= leastDark:
		kind, of = kinds[1], r[1]
	case r[2].n >= leastDark:
		kind, of = kinds[2], r[2]
	case r[3].n >= leastAlike && at-r[3].from >= leastStill:
		kind, of = kinds[3], r[3]
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
