package watch

import (
	"slices"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/kin"
	"snag/probes/streams/stream"
	"snag/recording"
)

// Row is one stream as it stands: a copy, for whoever shows it.
type Row struct {
	Entry
	Side     string // one of recording.StreamSide…
	Kin      kin.Kin
	Unnamed  bool   // its connection does not name it: Kin says by what it is known, if it is
	Beside   bool   // connections are watched beside streams that are read
	Shown    string // the URL as it may be printed
	Protocol string
	State    State
	Since    recording.Time // since when it is in this state
	Why      string         // of down, refused, no-answer: the last attempt's error; of frozen, what the transport knows
	Retry    recording.Time // when it is asked again; 0: it is being read

	Local, Remote string
	Params        [2]stream.Params // by stream.Video, stream.Audio; Codec "" is none told
	Asked         recording.Time
	First         recording.Time // arrival of the first frame; 0: none yet

	Picture string // how its pictures are: "ok" or a state's name; "" where that was not measured
	Sound   string // how its audio is: "ok" or "silent"; "" where that was not measured

	Second  figures.Second // the last whole second's
	Figure  bool           // there is one
	FPS     []float32      // of the last minute, oldest first; negative: not measured
	Drift   []float32      // seconds, the same
	Recent  []Happened     // the last events, newest last
	Freezes uint64         // that began since the watch did
	Judged  *Judged        // what the host's recording last told of it; nil: nothing
}

// Measured reports whether the row's figures are of the present: what is not read
// has none.
func (r *Row) Measured() bool {
	switch r.State {
	case Down, Refused, NoAnswer, Connecting, Over:
		return false
	}
	return r.Figure
}

// Happened is an event with its stream.
type Happened struct {
	figures.Event
	Stream string
	Layer  string
	Side   string // one of recording.StreamSide…
	Labels Labels
	Beside bool // as Row's
	T, End recording.Time
	At     recording.Time // the time that it is told for: an onset is known a threshold later, an end at itself
}

// Snapshot is all that is watched, as it stands.
type Snapshot struct {
	T      recording.Time
	Rows   []Row
	States [States]int
	Left   int // streams that are wanted and not watched: over the limit
	Own    Own
	Freeze uint64 // freezes since the watch began
}

// Sick counts the streams that a person should look at.
func (s *Snapshot) Sick() int {
	n := 0
	for state, count := range s.States {
		if State(state).Sick() {
			n += count
		}
	}
	return n
}

// history is how long a row's curves are, seconds.
const history = 60

// maxRecent events of a stream are kept to be shown.
const maxRecent = 12

// curve is the last minute of one figure.
type curve struct {
	at     int
	filled int
	v      [history]float32
}

func (c *curve) add(v float32) {
	c.v[c.at] = v
	c.at = (c.at + 1) % history
	c.filled = min(c.filled+1, history)
}

func (c *curve) list() []float32 {
	out := make([]float32, 0, c.filled)
	for i := range c.filled {
		out = append(out, c.v[(c.at-c.filled+i+history)%history])
	}
	return out
}

// measured is a figure for a curve: what was not measured is negative there, as
// neither frames per second nor what they lag behind can be.
func measured(v figures.Value) float32 {
	if !v.OK {
		return -1
	}
	return float32(max(v.V, 0))
}

// remember keeps the last events.
func remember(list []Happened, h Happened) []Happened {
	if h.Phase == figures.Updated || h.Phase == figures.Ended {
		for i := range list {
			if list[i].ID == h.ID && list[i].Kind == h.Kind {
				list[i] = h
				return list
			}
		}
	}
	if len(list) == maxRecent {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, h)
}

// Own is what the watch itself costs, and how late it runs.
type Own struct {
	CPU    figures.Value // share of one CPU in the last second; not measured in the first
	Total  float64       // CPU seconds since the start
	Memory int64         // bytes resident
	Late   time.Duration // the latest that its tick or a ticking goroutine ran in the last second
	Worst  time.Duration // since the start
}
