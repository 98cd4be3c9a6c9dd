package trial

import (
	"time"

	"snag/load"
)

// plan is a run at a rate.
func (t *trial) plan(rate float64, conns int, lasts time.Duration) load.Plan {
	p := load.Plan{Target: t.atLive(t.Target), Rate: rate, Conns: conns, For: lasts, Warm: warm, Options: t.Options, Timeout: t.Timeout}
	if t.Target.Network == "udp" {
		// It has no delayed acknowledgements. And where nothing is answered, the first datagram of each socket is the
		// only one that is sent: it has to count.
		p.Warm = 0
	}
	return p
}

const (
	// lowRate on lowConns uses each connection every 25 ms: rarely enough for a delayed acknowledgement, 40 ms,
	// and often enough for the kernel to take it for a conversation, in which it delays acknowledgements
	// (net/ipv4/tcp_output.c, tcp_event_data_sent). The first 16 of a connection are not delayed.
	lowRate  = 80
	lowConns = 2
	warm     = 400 * time.Millisecond
	// slowConns are used where an answer takes so long that two connections would bring too few, and a delayed
	// acknowledgement would be a small part of it.
	slowAnswer = 0.15 // s
	slowConns  = 8
	fewAnswers = 12
	longestLow = 3500 * time.Millisecond
	// mostOfConns is the share of the time in which those wait for answers: a rate that they can keep.
	mostOfConns = 0.8
)

// low is a run at a rate that a service should not notice, which lasts so long or, where answers take long,
// until there are some.
func (t *trial) low(lasts time.Duration) load.Plan {
	rate, conns, takes := float64(lowRate), lowConns, t.takes()
	due := float64(fewAnswers)
	if takes > slowAnswer {
		conns = slowConns
		rate = min(rate, mostOfConns*float64(conns)/takes)
	} else {
		due += rate * warm.Seconds() // what is due meanwhile is sent first, and not counted
	}
	need := time.Duration(due * takes / float64(conns) * float64(time.Second))
	return t.plan(rate, conns, max(lasts, min(need, longestLow)))
}

// takes is how long an answer takes as far as is known, in seconds; 0: nothing is.
func (t *trial) takes() float64 {
	switch {
	case t.m.Kept != nil && t.m.Kept.N > 0:
		return t.m.Kept.P50
	case t.m.Fresh != nil:
		return t.m.Fresh.Answer
	}
	return 0
}

// noDelays are options with which Nagle's algorithm delays nothing, on either side.
func noDelays(o load.SocketOptions) load.SocketOptions {
	yes := true
	o.NoDelay, o.QuickAck = &yes, &yes
	return o
}
