package actor

import (
	"context"
	"crypto/tls"
	"flag"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"snag/lab/clientlog"
	"snag/load"
	"snag/load/protocol"
)

var serviceClient = Actor{
	Name:  "service-client",
	About: "asks a service for answers of a fixed size by the engine of snag load, gives up after a time, comes back when a connection fails, and logs each request; after SIGUSR2 with --open, what fell due before is not asked any more",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		var c asking
		f.StringVar(&c.to, "to", "", "address:port")
		f.IntVar(&c.conns, "conns", 1, "connections")
		f.DurationVar(&c.every, "every", 100*time.Millisecond, "a request falls due this often on each")
		f.BoolVar(&c.open, "open", false, "requests fall due at that rate whether the one before was answered or not; their length counts from then")
		f.IntVar(&c.size, "size", 128, "bytes of a request and of its answer")
		f.DurationVar(&c.timeout, "timeout", 10*time.Second, "gives up after this")
		f.BoolVar(&c.fresh, "fresh", false, "its own connection for each request")
		f.IntVar(&c.first, "first", 0, "the first byte of a request; the others are 0")
		f.IntVar(&c.split, "split", 0, "sends a request in two writes, the first of so many bytes, without TCP_NODELAY")
		version := f.String("tls", "", "over TLS, of this version at most: 1.2 or 1.3")
		authority := f.String("authority", "", "file with the certificates that it trusts, with --tls")
		switched := f.Bool("switched", false, "idle until SIGUSR1, which turns it on and off")
		path := f.String("log", "", "file for the client's log")
		if err := parse(); err != nil {
			return err
		}
		if *version != "" {
			var err error
			if c.tls, err = clientConfig(*version, *authority); err != nil {
				return err
			}
		}
		w, err := clientlog.Create(*path)
		if err != nil {
			return err
		}
		defer w.Close()
		c.log, c.busy, c.restarts = w, toggled(!*switched), countSignals(syscall.SIGUSR2)
		ready()
		_, err = load.Run(ctx, c.plan())
		return err
	},
}

// asking is what a service-client asks.
type asking struct {
	to                 string
	conns, size, split int
	every, timeout     time.Duration
	first              int
	open, fresh        bool
	tls                *tls.Config // nil: none
	log                *clientlog.Writer
	busy               *toggle
	// restarts counts how often the requests that fall due whatever happens begin again from now. Who was kept from
	// asking for long has many of them behind him, and would first give up each in turn.
	restarts *atomic.Int64
}

// countSignals counts the signals of a kind that come from now on.
func countSignals(kind os.Signal) *atomic.Int64 {
	var n atomic.Int64
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, kind)
	go func() {
		for range signals {
			n.Add(1)
		}
	}()
	return &n
}

// plan is the same for the load's engine.
func (c asking) plan() load.Plan {
	p := load.Plan{
		Target:  load.Target{Network: "tcp", Address: c.to, Name: c.to, Protocol: c.protocol()},
		Rate:    float64(c.conns) / c.every.Seconds(),
		Conns:   c.conns,
		For:     maxLife,
		Timeout: c.timeout,
		Client: &load.Client{Closed: !c.open, Fresh: c.fresh, Restarts: c.restarts, Began: c.log.BeginDue,
			Paused: func() bool { return !c.busy.isOn() },
			Ended: func(id int64, at time.Time, kind load.Kind, _ bool) {
				c.log.EndAt(id, at, outcomeOf(kind))
			}},
	}
	atOnce := c.split == 0
	p.Options.NoDelay, p.Options.CPU = &atOnce, -1
	return p
}

func (c asking) protocol() protocol.Protocol {
	request := make([]byte, c.size)
	request[0] = byte(c.first)
	writes := [][]byte{request}
	if c.split > 0 && c.split < c.size {
		writes = [][]byte{request[:c.split], request[c.split:]}
	}
	sized := protocol.Sized{Writes: writes, Answer: c.size}
	if c.tls == nil {
		return sized
	}
	return protocol.TLS{Protocol: sized, Config: c.tls}
}

// outcomeOf a request: no answer in time is another harm than a refusal.
func outcomeOf(kind load.Kind) clientlog.Outcome {
	switch kind {
	case "":
		return clientlog.OK
	case load.NoAnswer:
		return clientlog.Lost
	}
	return clientlog.Failed
}
