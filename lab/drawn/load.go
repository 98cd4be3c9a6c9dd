package drawn

import (
	"fmt"
	"time"

	"snag/lab"
)

// Load is what clients ask of a service.
type Load struct {
	Conns int
	Rate  float64 // requests per second, of all
	Open  bool    // at that rate whatever the answers do
	Fresh bool    // a connection for each request
	Size  int     // bytes of a request and of its answer
}

// Every is how often a request falls due on each connection.
func (l Load) Every() time.Duration { return seconds(float64(l.Conns) / l.Rate) }

// Least and most of what clients ask for, requests per second: fewer make no p99 in a
// window of some seconds, more are a benchmark of this machine.
const (
	leastRate = 15
	mostRate  = 3000
)

// LoadOf draws what is asked of a service that can answer capacity requests per second at
// most when it is well: 2 to 50 % of that.
func (b *Bench) LoadOf(capacity float64) Load {
	l := Load{
		Rate: min(mostRate, max(leastRate, capacity*b.LogUniform("share of the capacity", 0.02, 0.5))),
		Open: b.Chance("open loop", 0.5),
		Size: b.Int("bytes of a request", 16, 16384),
	}
	l.Conns = b.Int("clients", 1, 128)
	// No client asks more than 200 times per second, or less than once in two seconds.
	l.Conns = max(l.Conns, int(l.Rate/200)+1)
	l.Conns = min(l.Conns, int(l.Rate*2))
	l = l.Within(2*b.rtt + seconds(1/capacity)) // a connection of its own each time needs two
	b.Values["requests per second"] = l.Rate
	b.Values["connections"] = l.Conns
	return l
}

// mostConns bounds what a machine of two CPUs is asked to hold.
const mostConns = 200

// Within is the load on so many connections that a request that takes that long, its round
// trips included, keeps them busy for half of the time at most. With the most connections
// that there may be, less is asked.
func (l Load) Within(takes time.Duration) Load {
	takes += 10 * time.Millisecond // what clients and a busy machine add
	l.Conns = max(l.Conns, int(2*l.Rate*takes.Seconds())+1)
	if l.Conns > mostConns {
		l.Conns = mostConns
		l.Rate = mostConns / (2 * takes.Seconds())
	}
	return l
}

// Trips is how long so many round trips take, or more where each request has a connection
// of its own.
func (n Net) Trips(l Load, kept, fresh int) time.Duration {
	if l.Fresh {
		return time.Duration(fresh) * n.RTT
	}
	return time.Duration(kept) * n.RTT
}

// Ask starts the clients of a service that answers as many bytes as it is asked with
// (rr-server, lab/anyserver).
func (b *Bench) Ask(ns, name, to string, l Load, more ...string) *lab.Process {
	args := []string{"--to", to, "--conns", fmt.Sprint(l.Conns), "--every", l.Every().String(), "--size", fmt.Sprint(l.Size), "--log", b.ClientLog(name)}
	if l.Open {
		args = append(args, "--open")
	}
	if l.Fresh {
		args = append(args, "--fresh")
	}
	p := b.Actor(ns, name, "service-client", append(args, more...))
	b.AwaitPrinted(p, "ready")
	b.askers = append(b.askers, p)
	return p
}

// Overload is the least demand, of a pool's capacity, at which requests certainly wait in line.
const Overload = 1.15
