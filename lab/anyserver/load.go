package anyserver

import (
	"math"
	"time"

	"snag/lab/drawn"
)

// Ordinary draws a service as most are: it computes a little, and mostly waits for
// something. Its size of a request is that of the load.
func Ordinary(b *drawn.Bench, name string, among ...Language) Options {
	o := Options{
		Language: LanguageOf(b, name, among...),
		Workers:  b.Int(name+"'s workers", 3, 64),
		Work:     b.Duration("CPU time of a request", 20*time.Microsecond, 2*time.Millisecond),
	}
	if b.Chance("requests wait", 0.6) {
		o.Wait = b.Duration("time of a request besides", 500*time.Microsecond, 80*time.Millisecond)
	}
	return o
}

// overhead is what a request costs besides, of the server's and the client's CPU time.
var overhead = map[Language]time.Duration{
	C: 40 * time.Microsecond, Go: 60 * time.Microsecond, Java: 100 * time.Microsecond, Python: 400 * time.Microsecond, Node: 200 * time.Microsecond,
}

// usable is the part of one CPU that requests may take when the service is at its
// capacity: others use up to 60 % of all, and the client and the path take their part.
const usable = 0.6

// CPU is the time that a request costs on a CPU.
func (o Options) CPU() time.Duration { return o.Work + overhead[o.Language] }

// Capacity is how many requests per second it can answer, each of which takes that long
// besides its own work and waiting.
func (o Options) Capacity(besides time.Duration) float64 {
	workers := float64(o.Workers) / (o.Work + o.Wait + besides).Seconds()
	return min(workers, usable/o.CPU().Seconds())
}

// What is asked at most: the path and the clients take their part of the CPUs too.
const (
	mostConns = 250
	mostRate  = 600
)

// LoadOf draws what is asked of the service: at most half of its capacity, and less where
// the way is so long that too many connections were needed for that.
func (o *Options) LoadOf(b *drawn.Bench, rtt, besides time.Duration) drawn.Load {
	l := b.LoadOf(o.Capacity(besides))
	return o.connected(b, l, rtt, besides)
}

// LoadAt is LoadOf with a rate that the caller chose, which is at most half of what its
// CPU time allows.
func (o *Options) LoadAt(b *drawn.Bench, rate float64, rtt, besides time.Duration) drawn.Load {
	l := b.LoadOf(1) // all but its rate
	l.Rate = min(rate, usable/2/o.CPU().Seconds())
	l.Conns = max(1, min(b.Int("clients", 1, 128), int(2*l.Rate)))
	return o.connected(b, l, rtt, besides)
}

// connected gives the load connections enough: each is at work for half of the time at
// most. A request may take two round trips.
func (o *Options) connected(b *drawn.Bench, l drawn.Load, rtt, besides time.Duration) drawn.Load {
	o.Size = l.Size
	took := (2*rtt + o.Work + o.Wait + besides + time.Millisecond).Seconds()
	l.Rate = min(l.Rate, mostRate, mostConns/(2*took))
	if o.Most > 0 {
		l.Rate = min(l.Rate, o.Most)
	}
	l.Conns = max(l.Conns, int(math.Ceil(2*l.Rate*took)))
	b.Values["requests per second"] = l.Rate
	b.Values["connections"] = l.Conns
	return l
}

// Subject matches a culprit that is this server: by its name, by that of a runtime, or by
// its port (or socket).
func Subject(name, port string) string {
	return name + `|java|python3|node|AnyServer|any-server|` + port
}
