package streams

import (
	"math"
	"strings"
	"time"

	"snag/recording"
)

// State is how a stream is, in the order of what to look at first (docs/watch.md).
type State int

// States, as snag watch has them.
const (
	Frozen State = iota
	Down
	Refused
	NoAnswer
	NoAudio
	Garbled
	Black
	Plain
	Still
	Silent
	LowFPS
	LowRate
	Late
	Slow
	Skipping
	Losing
	Asking
	Waiting
	Ended
	OK
)

var words = [...]string{"FROZEN", "DOWN", "refused", "no answer", "no audio", "garbled", "black", "plain", "still", "silent", "low FPS", "low kb/s", "late", "slow", "skipping", "losing", "asking", "waiting", "ended", "ok"}

func (s State) String() string { return words[s] }

// Sick reports whether a person should look at it.
func (s State) Sick() bool { return s < Asking }

// Read reports whether frames were read: else there are no figures of the present.
func (s State) Read() bool {
	switch s {
	case Down, Refused, NoAnswer, Asking, Ended:
		return false
	}
	return true
}

// lately is how long something that happens at an instant is still a stream's state.
const lately = 10 * time.Second

// stateAt tells from a stream's events and figures how it was at the end, since when, and
// why. What a recording that was cut off has not written is taken from its figures.
func stateAt(s *seen, c course, end recording.Time) (State, recording.Time, string) {
	g := signsOf(s.events, end)
	g.frames = g.frames || s.row.First != 0
	why := g.why
	if s.row.Error != "" {
		why = s.row.Error
	}
	switch {
	case !g.let && !g.gone && s.row.Error == "":
		if len(c.t) == 0 {
			return Asking, s.row.Asked, ""
		}
		g.let = true // it was read before the recording began
	case !g.let && g.frames:
		return Down, last(s, c, g.goneAt), reason(why)
	case !g.let && g.gone && !g.no:
		return Ended, g.goneAt, reason(why)
	case !g.let && refused(why):
		return Refused, g.goneAt, reason(why)
	case !g.let:
		return NoAnswer, g.goneAt, reason(why)
	}
	if g.frozen == 0 {
		g.frozen = standing(s, c)
	}
	switch {
	case g.frozen != 0:
		return Frozen, g.frozen, ""
	case !g.frames && !anyCame(c.v[fps]):
		return Waiting, g.letAt, ""
	case g.silent != 0:
		return NoAudio, g.silent, ""
	}
	if s, since := g.lack(); s != OK {
		return s, since, ""
	}
	switch {
	case g.late != 0:
		return Late, g.late, ""
	case g.slow != 0:
		return Slow, g.slow, ""
	case g.skipped != 0 && end.Sub(g.skipped) < lately:
		return Skipping, g.skipped, ""
	}
	if at := lastLoss(c, end); at != 0 {
		return Losing, at, ""
	}
	return OK, max(g.since, g.letAt), ""
}

// refused tells a server's no from no answer: what a server said is given as it stands,
// what a reader met begins with what it did.
func refused(why string) bool {
	return strings.Contains(why, ": the server refused: ") || why != "" && !strings.Contains(why, "://")
}

// reason is a reader's error without the stream, which the row names already.
func reason(why string) string {
	if strings.HasPrefix(why, "read ") {
		if _, rest, ok := strings.Cut(why, ": "); ok {
			why = rest
		}
	}
	return strings.TrimPrefix(why, "ended: ")
}

// last is when a stream's last frame came, as far as is known.
func last(s *seen, c course, gone recording.Time) recording.Time {
	if s.row.Last != 0 {
		return s.row.Last
	}
	for i := len(c.t) - 1; i >= 0; i-- {
		if c.v[fps][i] > 0 {
			return c.t[i]
		}
	}
	return gone
}

// standing is since when no frame comes, of a recording that was cut off before it could
// say so: its last seconds have no frame, and the longest time without one is over the
// threshold. 0 is none.
func standing(s *seen, c course) recording.Time {
	n := len(c.t) - 1
	if n < 0 || s.row.Threshold <= 0 || s.row.Protocol == "hls" || c.v[fps][n] != 0 || math.IsNaN(c.v[gap][n]) || c.v[gap][n] < s.row.Threshold {
		return 0
	}
	return c.t[n].Add(-time.Duration(c.v[gap][n] * 1e9))
}

// lastLoss is when packets were last lost, of the last seconds; 0 is not.
func lastLoss(c course, end recording.Time) recording.Time {
	for i := len(c.t) - 1; i >= 0 && end.Sub(c.t[i]) < lately; i-- {
		if c.v[lost][i] > 0 {
			return c.t[i]
		}
	}
	return 0
}
