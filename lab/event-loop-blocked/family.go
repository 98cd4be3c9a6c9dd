// Package eventloopblocked makes a service of one event loop, on which a long task runs
// again and again.
package eventloopblocked

import (
	"fmt"
	"time"

	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a service in Node, whose loop computes something long in one
// piece: a report, a large JSON text, a regular expression.
var Family = drawn.Family{
	Name: "event-loop-blocked", Kind: drawn.EventLoop, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{
		{Name: "long-task", Suspects: []string{"busy-thread"}, Subject: `node|:8080`, Account: "work"},
		{Name: "heavier-requests", Suspects: []string{"busy-thread"}, Subject: `node|:8080`, Account: "work"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Ordinary(b, "server", anyserver.Node)
	l := o.LoadOf(b, net.RTT, 0)
	server := anyserver.Start(b, net.Server, "node", net.At(8080), o)
	long, every := b.Duration("a long task takes", 20*time.Millisecond, 800*time.Millisecond), b.Duration("a long task every", 200*time.Millisecond, 3*time.Second)
	every = max(every, 2*long)
	on, off := server.Tells(fmt.Sprintf("block %d %d", long.Microseconds(), every.Microseconds()), "block 0")
	b.Switch("long-task", on, off)
	// All requests together want that much of the loop's time.
	heavy := time.Duration(b.LogUniform("use of the loop", 0.5, 2) / l.Rate * float64(time.Second))
	on, off = server.Tells(fmt.Sprint("work ", heavy.Microseconds()), fmt.Sprint("work ", o.Work.Microseconds()))
	b.Switch("heavier-requests", on, off)
	if b.Fault.Name == "long-task" {
		b.Amount("a task of %v on the event loop every %v", long, every)
	} else {
		b.Amount("a request computes for %v instead of %v, %.0f times per second", heavy, o.Work, l.Rate)
	}
	b.Ask(net.Client, "web-users", net.At(8080), l)
}
