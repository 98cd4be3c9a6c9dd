// Package load asks a service at a rate, from one thread, and measures how long it answers.
//
// The loop is open: when a request is due follows from the rate alone. Each latency is taken twice,
// from when the request was due and from when it was sent, so that a service which stands still
// does not hide the requests that would have been sent meanwhile (coordinated omission; G. Tene,
// "How NOT to Measure Latency", 2013). How late this program was itself is measured apart and is
// part of neither: Honest says when it was too much for the figures to be of the service.
package load

import (
	"errors"
	"fmt"
	"time"

	"snag/load/protocol"
)

// Plan is what to ask, how often and for how long.
type Plan struct {
	Target Target
	// Rate is requests per second over all connections; 0: as many as the open requests on each
	// connection allow, which is no open loop.
	Rate float64
	// Times is when each connection sends; nil: evenly, by the rate. With it Rate is their mean.
	Times *Times
	Conns int
	// Streams is how many requests can be open on one connection at a time; 0 is 1.
	Streams int
	Size    int // bytes of a message, where several are tried; 0: one size
	For     time.Duration
	// Warm is how long requests are made before any is counted.
	Warm    time.Duration
	Options SocketOptions
	// Timeout is how long a request may be open. Its connection is closed then and opened again.
	Timeout time.Duration
	// Deadline is when an answer comes too late, since its request was due; 0: never.
	Deadline time.Duration
	// Each is called with each second that is over and when it began, on the load's own thread: it must be
	// quick. May be nil.
	Each func(began time.Time, s Second)
	// Sessions: what becomes of each connection is kept, as each is a session of its own.
	Sessions bool
	// PingPong: one connection is read again and again until the answer is there; the thread never sleeps.
	PingPong bool
	// Spin: the thread does not sleep for the last part before a request is due.
	Spin bool
	// Bandwidth is how many bits per second the messages are to carry; 0: they are requests. ForBandwidth sets it.
	Bandwidth float64
	// Client: the run asks as an ordinary client program does; nil: as a load.
	Client *Client
}

const mostRate = 10e6 // requests/s

// MostConns bounds the connections of one run: each needs a descriptor and some kB.
const MostConns = 100_000

// MostStreams bounds the requests that are open on one connection.
const MostStreams = 100_000

// Check says what is wrong with a plan before anything is sent.
func (p Plan) Check() error {
	switch {
	case p.Rate < 0 || p.Rate > mostRate:
		return fmt.Errorf("a rate of %g requests per second: from 0 (as many as possible) to 10 million", p.Rate)
	case p.Conns < 1 || p.Conns > MostConns:
		return fmt.Errorf("%d connections: from 1 to %d", p.Conns, MostConns)
	case p.For <= 0:
		return errors.New("a load needs some time: longer than 0 s")
	case p.Timeout <= 0:
		return errors.New("a request needs a time after which it is given up: longer than 0 s")
	case p.Streams < 0 || p.Streams > MostStreams:
		return fmt.Errorf("%d requests open on a connection: from 1 to %d", p.Streams, MostStreams)
	case p.Streams > 1 && !p.carriesSeveral():
		return fmt.Errorf("%s carries one request at a time on a connection: several need HTTP/2 (--http2) or gRPC", p.Target.Name)
	case p.Sessions && (p.Streams > 1 || p.Rate == 0):
		return errors.New("a session sends at a rate and waits for each answer: one request at a time")
	case p.Streams > 1 && p.PingPong:
		return errors.New("ping-pong has one request open at a time")
	case p.PingPong && (p.Conns != 1 || p.Rate != 0):
		return errors.New("ping-pong is one connection, on which each request is sent when the answer before it is there")
	case p.PingPong && p.silent():
		return errors.New("ping-pong needs answers: of 1 byte or more")
	case p.Spin && p.Options.CPU < 0:
		return errors.New("a thread that spins needs a CPU to stay on")
	}
	if err := p.checkClient(); err != nil {
		return err
	}
	return p.Target.check()
}

// carriesSeveral reports whether several requests can be open on one connection.
func (p Plan) carriesSeveral() bool {
	_, ok := p.Target.Protocol.New().(protocol.Many)
	return ok
}

// silent reports whether requests get no answer that is awaited.
func (p Plan) silent() bool {
	s, ok := p.Target.Protocol.New().(protocol.Silent)
	return ok && s.Silent()
}

// due is when request i is to be sent, after the start.
func (p Plan) due(i int64) time.Duration {
	if p.Rate == 0 {
		return 0
	}
	if p.Times != nil {
		return p.Times.due(i, p.Conns)
	}
	return time.Duration(float64(i) / p.Rate * float64(time.Second))
}
