package net

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// overrun is a storm at a full accept queue: how many come in a second is then what the listener can take, and those
// who were dropped are not counted by peer.
type overrun struct {
	storm          []*caller
	each, others   float64 // bytes of an answer to them, and to the others
	over, of       float64 // handshakes that were dropped while they came, of all
	theirs, opened float64 // connections that were opened in these seconds
}

const (
	// leastGiven is what an ordinary client is given at least, as a share of the longest answers.
	leastGiven = 0.125
	// whileTheyCame is the share of the dropped handshakes, and mostOpened that of the accepted connections.
	whileTheyCame, mostOpened = 0.9, 0.5
	// nobodyGetsIn is for how long all of them are dropped: TCP tries again after 1 s, 2 s, then 4 s (RFC 6298).
	nobodyGetsIn = 7 * time.Second
	// fewAnswers are no measure of what an answer has.
	fewAnswers = 20
)

// overrunBy finds those of a storm whose connections fill a listener's accept queue, and are turned away when they get
// in.
func overrunBy(s *scene.Scene, r *recording.Recording, l *called, storm []*caller) (o overrun, ok bool) {
	full := false
	listeners, _ := listenersOf(s, "tcp", l.netns)
	for _, one := range listeners {
		full = full || one.socket == s.ListenerOn(l.netns, l.local) && (one.drops.Sum() > 0 || one.full > 0)
	}
	series, counted := measure.Counter(r, l.netns, "node_netstat_TcpExt_ListenOverflows")
	if !full || !counted {
		return o, false
	}
	for _, c := range l.callers {
		if c.closed >= fewAnswers {
			o.others = max(o.others, c.outEach())
		}
	}
	mine := map[string]bool{}
	for _, c := range storm {
		if c.closed >= fewAnswers && c.outEach() < leastGiven*o.others {
			o.storm, mine[c.peer] = append(o.storm, c), true
		}
	}
	sum := total(o.storm)
	o.each = sum.outEach()
	came := intervals.Merge(sum.opened.Active(), nobodyGetsIn)
	var dropping []recording.Interval // in the order of time, none overlaps another
	for _, step := range measure.StepsOf(series) {
		if step.N > 0 {
			o.of += step.N
			dropping = append(dropping, step.Interval)
			if len(intervals.Near(came, step.Interval)) > 0 {
				o.over += step.N
			}
		}
	}
	for _, c := range l.callers {
		for _, second := range c.opened {
			if len(intervals.Near(dropping, second.Interval)) > 0 {
				if o.opened += second.N; mine[c.peer] {
					o.theirs += second.N
				}
			}
		}
	}
	return o, len(o.storm) > 0 && len(sum.opened) >= sustained && o.of >= fewOverflows && o.over >= whileTheyCame*o.of && o.theirs >= mostOpened*o.opened
}

// evidence is that they are turned away, and that the queue is full of them.
func (o overrun) evidence(from source.Source) []suspect.Evidence {
	part, share := measure.ShareOf(int(o.theirs), int(o.opened))
	return []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: o.others / max(1, o.each), Unit: "times", Source: source.Of("tcp_info bytes at close", source.Closed), Origin: "bytes at close",
			Text: fmt.Sprintf("they are turned away: %s sent to each of them, up to %s to one of the others", units.Bytes(o.each), units.Bytes(o.others))},
		{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.Netstat("ListenOverflows").And(from), Origin: "ListenOverflows",
			Text: fmt.Sprintf("its accept queue ran over in the seconds in which they came (%s), and %s of what it accepted in these were theirs", units.OfAll(o.over, o.of), part)},
	}
}
