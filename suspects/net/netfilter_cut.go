package net

import (
	"time"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// A sender whose segments are all dropped sends the first of them again after 0.2, 0.4, 0.8 s: so few
// packets end a connection. Connection tracking drops a few of one as well, which goes on then.
const (
	cutPackets = 3
	cutSeconds = 1.0
	cutStands  = 2 * time.Second // looks at the sockets are a second apart
)

// cutShort reports whether a connection here that received data got no more from when its packets were
// dropped on, for as long as they were.
func cutShort(s *scene.Scene, k measure.DropKey, rows []recording.Drop) bool {
	all := measure.DropSteps(rows)
	span := recording.Interval{Start: all[0].Start, End: all[0].Start}
	for _, step := range all {
		span.Start, span.End = min(span.Start, step.Start), max(span.End, step.Start)
	}
	if k.Proto != "tcp" || all.Sum() < cutPackets || span.Length(span.End).Seconds() < cutSeconds {
		return false
	}
	for _, d := range measure.ByEnds(rows) {
		if c := s.SocketAt(k.Netns, k.Proto, k.Dst, scene.Address(d.Src)); c != nil && stoodStill(c, span) {
			return true
		}
	}
	return false
}

// stoodStill reports whether a socket received data until that time began, and nothing in it.
func stoodStill(c *scene.Socket, span recording.Interval) bool {
	var first, at, last *recording.TCPInfo
	for _, row := range c.Rows {
		switch {
		case row.TCP == nil:
		case row.T <= span.Start:
			if first == nil {
				first = row.TCP
			}
		case row.T <= span.Start.Add(cutStands):
			at = row.TCP
		case row.T <= span.End.Add(cutStands):
			last = row.TCP
		}
	}
	return first != nil && at != nil && last != nil && at.BytesReceived > first.BytesReceived && last.BytesReceived == at.BytesReceived
}
