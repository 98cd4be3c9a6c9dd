package workerqueue

import (
	"fmt"
	"math"
	"syscall"
	"time"

	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a pool of workers, or a limit of requests at work, in any
// language, that is too small for what is asked of it.
var Family = drawn.Family{
	Name: "worker-queue", Kind: drawn.Inside, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{
		fault("few-workers", true), fault("slower-requests", false), fault("more-requests", false),
	},
	Build: buildFamily,
}

func fault(name string, whole bool) drawn.Fault {
	return drawn.Fault{Name: name, Suspects: []string{"worker-queue"}, Subject: anyserver.Subject("quote-server", ":8080"), Account: "in line", Whole: whole}
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Ordinary(b, "server")
	if o.Wait == 0 { // with the CPU alone it would be the CPU that there is too little of
		o.Wait = b.Duration("time of a request besides", 2*time.Millisecond, 80*time.Millisecond)
	}
	l := o.LoadOf(b, net.RTT, 0)
	// What is at work of it on average (Little's law), and how much more than the pool that is.
	atWork := l.Rate * (o.Work + o.Wait).Seconds()
	beyond := b.LogUniform("demand, of the capacity", 0.8, 4)
	if b.Fault.Name == "few-workers" { // more than one worker is needed, or one is enough
		o.Wait = max(o.Wait, 8*time.Millisecond)
		o.Workers, l.Rate = max(o.Workers, 4), max(l.Rate, 2/(o.Work+o.Wait).Seconds())
		l = o.LoadAt(b, l.Rate, net.RTT, 0)
		atWork = l.Rate * (o.Work + o.Wait).Seconds()
		o.Workers = max(o.Workers, int(math.Ceil(2.5*atWork)))
	}
	if b.Built("few-workers") {
		o.Workers = max(1, int(math.Round(atWork/beyond)))
		b.Amount("%d workers, of which %.1f are needed", o.Workers, atWork)
	}
	if b.Fault.Name == "slower-requests" { // or nobody would wait in line: slow handlers are no queue
		beyond = max(beyond, drawn.Overload)
		l.Conns = max(l.Conns, 2*o.Workers)
	}
	server := anyserver.Start(b, net.Server, "quote-server", net.At(8080), o)
	b.Ask(net.Client, "quote-client", net.At(8080), l)

	slow := time.Duration(beyond * float64(o.Workers) / l.Rate * float64(time.Second))
	on, off := server.Tells(fmt.Sprint("wait ", slow.Microseconds()), fmt.Sprint("wait ", o.Wait.Microseconds()))
	b.Switch("slower-requests", on, off)

	// Others ask as well, over connections enough to keep all workers busy.
	more := min(beyond*o.Capacity(0), 1500)
	conns := max(2*o.Workers, b.Int("others' connections", 8, 128), int(1.5*more*(net.RTT+o.Work+o.Wait).Seconds()))
	every := time.Duration(float64(conns) / more * float64(time.Second))
	others := b.Actor(net.Client, "price-import", "service-client", []string{"--to", net.At(8080), "--conns", fmt.Sprint(conns), "--every", every.String(), "--size", fmt.Sprint(l.Size), "--switched"})
	b.AwaitPrinted(others, "ready")
	turn := func() { b.Signal(others, syscall.SIGUSR1) }
	b.Switch("more-requests", turn, turn)
	switch b.Fault.Name {
	case "slower-requests":
		b.Amount("a request takes %v instead of %v: %.1f times what %d workers can do", slow, o.Wait, beyond, o.Workers)
	case "more-requests":
		b.Amount("%.0f requests per second more: %d workers can do %.0f", more, o.Workers, o.Capacity(0))
	}
}
