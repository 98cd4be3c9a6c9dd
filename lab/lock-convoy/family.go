package lockconvoy

import (
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a service in any language with locks, whose requests call
// another service, sleep or compute; either each holds the service's lock from first to
// last, or housekeeping holds it now and then.
var Family = drawn.Family{
	Name: "lock-convoy", Kind: drawn.Inside, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{
		{Name: "held-by-requests", Suspects: []string{"lock-convoy"}, Subject: anyserver.Subject("order-server", ":8080"), Account: "lock"},
		{Name: "held-by-housekeeping", Suspects: []string{"lock-convoy"}, Subject: anyserver.Subject("order-server", ":8080"), Account: "lock"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server", anyserver.Can("lock")...)}
	takes := b.Duration("a request takes", 3*time.Millisecond, 80*time.Millisecond)
	o.Work = min(takes, b.Duration("CPU time of a request", 20*time.Microsecond, time.Millisecond))
	besides := time.Duration(0)
	// The lock would be busy for so much of the time if requests held it: above 1 they queue.
	rate := b.LogUniform("use of the lock", 0.8, 5) / takes.Seconds()
	if drawn.Pick(b.Draw, "requests", "call", "call", "sleep") == "call" {
		besides = takes
		db := b.Netns("db")
		b.Veth(lab.End{Netns: net.Server, Device: "eth1", Addr: "10.78.5.1/24"}, lab.End{Netns: db, Device: "eth0", Addr: "10.78.5.2/24"})
		o.Call = "10.78.5.2:5432"
		b.AwaitPrinted(b.Actor(db, "database", "rr-server", []string{"--listen", o.Call, "--wait", takes.String()}), "ready")
	} else {
		o.Wait = takes
	}
	l := o.LoadAt(b, rate, net.RTT, besides)
	l.Conns = max(l.Conns, b.Int("clients at least", 6, 48)) // who is alone waits for nobody
	o.Workers = max(b.Int("workers", 8, 64), int(2.5*l.Rate*(takes+o.Work).Seconds())+2)
	server := anyserver.Start(b, net.Server, "order-server", net.At(8080), o)
	on, off := server.Tells("lock 1", "lock 0")
	b.Switch("held-by-requests", on, off)
	how := drawn.Pick(b.Draw, "housekeeping", "s", "w")
	held, every := b.Duration("held for", 20*time.Millisecond, 800*time.Millisecond), b.Duration("held every", 100*time.Millisecond, 2*time.Second)
	if how == "w" {
		held, every = held/4, max(every, held)
	}
	b.Switch("held-by-housekeeping", func() { server.Tell("hold %d %d %s", held.Microseconds(), every.Microseconds(), how) }, func() { server.Tell("hold 0") })
	if b.Fault.Name == "held-by-requests" {
		b.Amount("a lock held for %v in each of %.0f requests per second", takes+o.Work, l.Rate)
	} else {
		b.Amount("a lock that %.0f requests per second need, held for %v every %v", l.Rate, held, held+every)
	}
	b.Ask(net.Client, "order-client", net.At(8080), l)
}
