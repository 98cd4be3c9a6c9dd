package net

import (
	"fmt"
	"time"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// crowd is one program's, or one host's, connections that wait at a listener at each look.
type crowd struct {
	name        string
	who         []recording.Subject
	least, most int // at a look
	n, of       int // at all looks; of those of all
	looks       int
}

const (
	// crowdLooks are few: all sockets of a host are listed every five seconds.
	crowdLooks = 2
	// mostOfLine of those that wait are one program's, and alikeEach is how far its numbers lie apart:
	// clients that pause, or come as work does, are now many and now few.
	mostOfLine, alikeEach = 0.6, 0.25
	// fewWaitingThere are no line that others have to wait in.
	fewWaitingThere = 10
)

// crowding finds the program or host whose clients come to a listener again as soon as they were let
// go: at each look as many of its connections wait there, and none of them is seen twice. False where
// nobody else waits behind them.
func crowding(s *scene.Scene, l *called) (*crowd, bool) {
	listener := s.ListenerOn(l.netns, l.local)
	if listener == nil {
		return nil, false
	}
	line := map[int64]map[string]int{}
	who, twice := map[string]recording.Subject{}, map[string]bool{}
	here := map[string]bool{} // addresses of clients on this host
	for _, k := range s.Sockets {
		if k.Listener == listener && k.Peer != nil {
			here[recording.Host(k.First().Remote)] = true
		}
	}
	for _, k := range s.Sockets {
		if k.Listener != listener || k.Listening() {
			continue
		}
		name := recording.Host(k.First().Remote)
		if here[name] {
			if k.Peer == nil || k.Peer.Owner() == nil {
				continue // closed by its client since, or not looked up
			}
			p := k.Peer.Owner()
			name = p.Subject.Name
			who[name] = p.Subject
		}
		seen := map[int64]bool{}
		for _, row := range k.Rows {
			if at := int64(row.T) / int64(time.Second); row.State == "ESTABLISHED" && !seen[at] {
				seen[at] = true
				if line[at] == nil {
					line[at] = map[string]int{}
				}
				line[at][name]++
			}
		}
		twice[name] = twice[name] || len(seen) > 1
	}
	c := &crowd{}
	for _, by := range line {
		all, first := 0, ""
		for name, n := range by {
			all += n
			if first == "" || n > by[first] {
				first = name
			}
		}
		if by[first] < fewWaitingThere {
			continue
		}
		if n := by[first]; float64(n) < mostOfLine*float64(all) || c.name != "" && c.name != first {
			return nil, false
		} else if c.name == "" {
			c.name, c.least, c.most = first, n, n
		}
		c.least, c.most = min(c.least, by[first]), max(c.most, by[first])
		c.n, c.of, c.looks = c.n+by[first], c.of+all, c.looks+1
	}
	if c.looks < crowdLooks || twice[c.name] || c.n == c.of || float64(c.most-c.least) > alikeEach*float64(c.most) {
		return nil, false
	}
	if p, ok := who[c.name]; ok {
		c.who = []recording.Subject{p}
	}
	return c, true
}

func (c *crowd) text() string {
	return fmt.Sprintf("most of those who wait there are of %s, which comes again at once", c.name)
}

func (c *crowd) evidence() suspect.Evidence {
	part, share := measure.ShareOf(c.n, c.of)
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.SS("-tn"), Origin: "who waits",
		Text: fmt.Sprintf("%s of the connections that were found waiting there in %d samples were of %s: %d to %d each time, and none of them twice; the others wait behind them", part, c.looks, c.name, c.least, c.most)}
}
