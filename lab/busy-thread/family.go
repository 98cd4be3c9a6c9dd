package busythread

import (
	"fmt"
	"math"
	"time"

	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a server of one thread, in any language that has such ones,
// which has a long task besides its requests, or some requests that compute for long.
var Family = drawn.Family{
	Name: "busy-thread", Kind: drawn.EventLoop, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{
		{Name: "long-task", Suspects: []string{"busy-thread"}, Subject: subject, Also: []string{"worker-queue"}, Account: "work"},
		{Name: "heavy-requests", Suspects: []string{"busy-thread"}, Subject: subject, Also: []string{"worker-queue"}, Account: "work"},
	},
	Build: buildFamily,
}

var subject = anyserver.Subject("stock-server", ":8081")

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server", anyserver.Can("block")...), Workers: 1}
	o.Work = b.Duration("CPU time of a request", 20*time.Microsecond, 2*time.Millisecond)
	l := o.LoadOf(b, net.RTT, 0)
	server := anyserver.Start(b, net.Server, "stock-server", net.At(8081), o)
	long := b.Duration("it computes for", 20*time.Millisecond, 800*time.Millisecond)
	use := b.LogUniform("use of the thread by that", 0.03, 0.5)

	every := time.Duration(long.Seconds() / use * float64(time.Second))
	on, off := server.Tells(fmt.Sprintf("block %d %d", long.Microseconds(), every.Microseconds()), "block 0")
	b.Switch("long-task", on, off)
	// One request of so many is a report, which computes for as long.
	one := max(2, int(math.Round(l.Rate*every.Seconds())))
	on, off = server.Tells(fmt.Sprintf("heavy %d %d", long.Microseconds(), one), "heavy 0")
	b.Switch("heavy-requests", on, off)
	if b.Fault.Name == "long-task" {
		b.Amount("a task of %v on the one thread every %v", long, every)
	} else {
		b.Amount("one of %d requests computes for %v besides, %.0f are asked per second", one, long, l.Rate)
	}
	b.Ask(net.Client, "stock-client", net.At(8081), l)
}
