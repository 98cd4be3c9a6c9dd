package net

import (
	"sort"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// caller is what one peer did to one listener.
type caller struct {
	peer          string
	opened        measure.Steps // only the seconds in which it opened some
	closed, short float64
	lifetime      float64         // s, of the closed
	in, out       float64         // payload bytes of the closed
	peers         map[string]bool // of a sum: whose
}

// called is a listener and who called it.
type called struct {
	netns   uint64
	local   string
	pid     int
	comm    string
	all     *caller
	callers []*caller // the busiest first; not those counted as "others"
}

// A peer that opens fewer a second than this, or mostly connections that last,
// is no part of a storm, whatever its sum.
const (
	callerRate  = 5
	callerShort = 0.9
)

// sustained is for how many seconds a storm lasts at least: a deploy is one burst.
const sustained = 5

// storms reports whether the peer's connections look like those of a storm: many a
// second in the seconds in which it came, and gone at once.
func (c *caller) storms() bool {
	return c.rate() >= callerRate && c.closed > 0 && c.short >= callerShort*c.closed
}

// rate is the connections opened in a second, over the seconds from the first
// to the last.
func (c *caller) rate() float64 {
	return c.opened.Sum() / max(1, c.span())
}

// span is the seconds from the first to the last in which it opened some.
func (c *caller) span() float64 {
	if len(c.opened) == 0 {
		return 0
	}
	return c.opened[len(c.opened)-1].End.Sub(c.opened[0].Start).Seconds()
}

func (c *caller) lifetimeEach() float64 { return c.lifetime / max(1, c.closed) }

func (c *caller) inEach() float64 { return c.in / max(1, c.closed) }

func (c *caller) outEach() float64 { return c.out / max(1, c.closed) }

func (c *caller) bytesEach() float64 { return c.inEach() + c.outEach() }

// fallsOff compares the first and the last third of the time in which it came: a
// client that doubles its wait makes far fewer in the last. A storm that ended in
// the window doesn't: what came after it is not counted.
func (c *caller) fallsOff() (first, last float64, falls bool) {
	if len(c.opened) == 0 {
		return 0, 0, false
	}
	start, end := c.opened[0].Start, c.opened[len(c.opened)-1].End
	third := end.Sub(start) / 3
	if third.Seconds() < 2 {
		return 0, 0, false
	}
	for _, o := range c.opened {
		switch {
		case o.Start < start.Add(third):
			first += o.N
		case o.Start >= end.Add(-third):
			last += o.N
		}
	}
	first, last = first/third.Seconds(), last/third.Seconds()
	return first, last, last < first/2
}

// add counts a row; end is the window's: its last second is cut short by it.
func (c *caller) add(row recording.Connections, end recording.Time) {
	if row.Opened > 0 {
		if n := len(c.opened); n > 0 && c.opened[n-1].Start == row.T {
			c.opened[n-1].N += float64(row.Opened)
		} else {
			second := measure.OneSecond(row.T)
			if second.Start < end {
				second.End = min(second.End, end)
			}
			c.opened = append(c.opened, measure.Step{Interval: second, N: float64(row.Opened)})
		}
	}
	c.closed += float64(row.Closed)
	c.short += float64(row.Short)
	c.lifetime += row.Lifetime
	c.in += float64(row.BytesIn)
	c.out += float64(row.BytesOut)
}

// total joins callers into one.
func total(all []*caller) *caller {
	sum := &caller{peers: map[string]bool{}}
	at := map[recording.Interval]float64{}
	for _, c := range all {
		for _, o := range c.opened {
			at[o.Interval] += o.N
		}
		sum.closed += c.closed
		sum.short += c.short
		sum.lifetime += c.lifetime
		sum.in += c.in
		sum.out += c.out
		sum.peers[c.peer] = true
	}
	for span, n := range at {
		sum.opened = append(sum.opened, measure.Step{Interval: span, N: n})
	}
	sort.Slice(sum.opened, func(i, j int) bool { return sum.opened[i].Start < sum.opened[j].Start })
	return sum
}

// resets of established connections between the listener and these peers, either
// way.
func (c *caller) resets(r *recording.Recording, l *called) float64 {
	n := 0.0
	port := recording.Port(l.local)
	for _, row := range r.Resets {
		if measure.Namespace(r, row.Netns) == l.netns && recording.Port(row.Local) == port && c.peers[recording.Host(scene.Address(row.Remote))] && ofConnection(row) {
			n += float64(row.N)
		}
	}
	return n
}

// calledListeners gathers the connections accepted by each listener, in the order
// in which they were first called.
func calledListeners(r *recording.Recording) []*called {
	type key struct {
		netns uint64
		local string
	}
	all := map[key]*called{}
	peers := map[key]map[string]*caller{}
	var out []*called
	for _, row := range r.Connections {
		if row.Role != "accept" {
			continue
		}
		k := key{measure.Namespace(r, row.Netns), scene.Address(row.Local)}
		l := all[k]
		if l == nil {
			l = &called{netns: k.netns, local: k.local, all: &caller{}}
			all[k], peers[k] = l, map[string]*caller{}
			out = append(out, l)
		}
		if row.PID != 0 {
			l.pid, l.comm = row.PID, row.Comm
		}
		l.all.add(row, r.Manifest.End)
		if row.Remote == "others" {
			continue
		}
		c := peers[k][row.Remote]
		if c == nil {
			c = &caller{peer: row.Remote}
			peers[k][row.Remote] = c
			l.callers = append(l.callers, c)
		}
		c.add(row, r.Manifest.End)
	}
	for _, l := range out {
		sort.SliceStable(l.callers, func(i, j int) bool { return l.callers[i].opened.Sum() > l.callers[j].opened.Sum() })
	}
	return out
}

// subject is the listener as the scene has it, or as the connections tell.
func (l *called) subject(s *scene.Scene) recording.Subject {
	if k := s.ListenerOn(l.netns, l.local); k != nil {
		return k.Subject
	}
	return recording.Subject{Kind: recording.KindListener, Netns: l.netns, Proto: "tcp", Local: l.local, PID: l.pid, Comm: l.comm}
}

// lastingOnes are the connections of a listener that stayed.
type lastingOnes struct {
	n         int
	bytesEach float64 // in the window where it was read, else since they began
}

// stays is how long a connection must have been seen to be a lasting one.
const stays = 5 // s

func lastingConnections(s *scene.Scene, l *called) lastingOnes {
	var out lastingOnes
	sum := 0.0
	listener := s.ListenerOn(l.netns, l.local)
	for _, k := range s.Sockets {
		a, b := k.First(), k.Last()
		mine := listener != nil && k.Listener == listener || a.Netns == l.netns && (a.Local == l.local || a.Wire && recording.Port(a.Local) == recording.Port(l.local)) // by a capture nobody knows on which addresses it listens
		if !mine || k.Listening() || b.TCP == nil || b.T.Sub(a.T).Seconds() < stays || !seenEstablished(k) {
			continue
		}
		bytes := float64(b.TCP.BytesSent + b.TCP.BytesReceived)
		if bytes == 0 {
			continue // it waits: a player that came before the publisher
		}
		out.n++
		sum += bytes
	}
	if out.n > 0 {
		out.bytesEach = sum / float64(out.n)
	}
	return out
}

func seenEstablished(k *scene.Socket) bool {
	for _, row := range k.Rows {
		if row.State == "ESTABLISHED" {
			return true
		}
	}
	return false
}

// lastingInLog are those of a log, in which each that lasted has a row of its own peer
// and second.
func lastingInLog(r *recording.Recording, l *called) lastingOnes {
	var out lastingOnes
	sum := 0.0
	for _, row := range r.Connections {
		if row.PID != l.pid || scene.Address(row.Local) != l.local || row.Closed == 0 || row.Short > 0 || row.Lifetime < stays*float64(row.Closed) {
			continue
		}
		if bytes := row.BytesIn + row.BytesOut; bytes > 0 {
			out.n += int(row.Closed)
			sum += float64(bytes)
		}
	}
	if out.n > 0 {
		out.bytesEach = sum / float64(out.n)
	}
	return out
}
