package streams

import (
	"fmt"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// sits are the times that threads of the relay sat in one write to the consumer, each
// from where the call began, or was first seen, to where it ended: the closer look tells
// of every call of a second and more.
func (c *consumer) sits(r *recording.Recording, window recording.Interval) []recording.Interval {
	fds := descriptorsOf(c.socket, c.relay)
	var out []recording.Interval
	for _, e := range r.Events {
		if e.Kind != recording.EventBlocked || e.Subject.PID != c.relay.Subject.PID || !writes[e.Attrs["call"]] {
			continue
		}
		fd, err := strconv.Atoi(e.Attrs["fd"])
		if err != nil || !fds[fd] || !strings.Contains(e.Attrs["name"], c.socket.First().Remote) {
			continue // a descriptor may be another socket's by now
		}
		i := e.Interval()
		if i.End == 0 {
			i.End = window.End
		}
		out = append(out, i)
	}
	return intervals.Merge(out, 0)
}

// inStep is how the other consumers fared while the relay sat in that write, and while it
// did not, by the looks at their sockets, in seconds of all of them together.
type inStep struct {
	sits           []recording.Interval
	still, stillIn float64 // in which they got next to nothing; of them, in a sit
	moved, movedIn float64 // in which they got their share; of them, in a sit
}

// inStepWith compares them; nil where there was no such call, or nobody looked closer.
func (c *consumer) inStepWith(r *recording.Recording, window recording.Interval) *inStep {
	s := &inStep{sits: c.sits(r, window)}
	if len(s.sits) == 0 {
		return nil
	}
	watched := s.sits[0].Start // before, nobody told when a call began
	for _, k := range c.others {
		usual := overall(k, measure.SentBytes)
		for i := 1; i < len(k.Rows); i++ {
			a, b := k.Rows[i-1], k.Rows[i]
			if a.TCP == nil || b.TCP == nil || b.T <= watched || b.T <= a.T {
				continue
			}
			from := max(a.T, watched)
			step := []recording.Interval{{Start: from, End: b.T}}
			seconds, in := b.T.Sub(from).Seconds(), intervals.Overlap(step, s.sits, window.End).Seconds()
			if (measure.SentBytes(b)-measure.SentBytes(a))/b.T.Sub(a.T).Seconds() < nextToNothing*usual {
				s.still += seconds
				s.stillIn += in
			} else {
				s.moved += seconds
				s.movedIn += in
			}
		}
	}
	return s
}

// nextToNothing is the share of its usual rate under which a consumer gets nothing: the
// edges of a freeze lie in the seconds of the looks.
const nextToNothing = 0.3

// fewStill seconds without anything are what chance may make.
const fewStill = 3.0

// evidence is whether the others' silence is that of the write.
func (s *inStep) evidence() (suspect.Evidence, bool) {
	if s.still < fewStill {
		return suspect.Evidence{}, false
	}
	longest := 0.0
	for _, i := range s.sits {
		longest = max(longest, i.End.Sub(i.Start).Seconds())
	}
	share := s.stillIn / s.still
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: share, Unit: "share", Source: source.Of("raw_syscalls (events blocked)", source.Blocked).And(source.SS("-ti bytes_sent of the others").With(source.BytesSent)), Origin: "in time",
		Text: fmt.Sprintf("it sat in one write to it %s, %s at the longest; %.0f %% of the time in which the others got nothing lies in that", units.Times(len(s.sits)), units.Hundredths(longest), 100*share)}
	together := 0.0
	if s.moved > 0 {
		together = s.movedIn / s.moved
		e.Text += fmt.Sprintf(", and %.0f %% of the time in which they got something", 100*together)
	}
	switch {
	case share >= 0.8 && together <= 0.5*share:
		e.Grade = suspect.Strong
	case together > share:
		e.Side = suspect.Against
	}
	return e, true
}
