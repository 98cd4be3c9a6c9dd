package spinlock

import (
	"fmt"
	"time"

	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: requests that hold a lock which spins while they work or
// sleep; or some threads that spin for a lock whose holder never gives it back, and take
// the CPUs from the rest.
var Family = drawn.Family{
	Name: "spin-lock", Kind: drawn.Inside, Origin: drawn.Lab, Needs: anyserver.Needs, Alone: true,
	Faults: []drawn.Fault{
		{Name: "spin-in-requests", Suspects: []string{"spin-lock"}, Subject: anyserver.Subject("match-engine", ":8080"), Also: taken, Account: "spin"},
		{Name: "never-given-back", Suspects: []string{"spin-lock"}, Subject: anyserver.Subject("match-engine", ":8080"), Also: taken, Account: "spin"},
	},
	Build: buildFamily,
}

// It takes all CPUs there are.
var taken = []string{"cpu-saturated", "run-queue-wait"}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server", anyserver.Can("spin")...)}
	o.Work = b.Duration("CPU time of a request", 50*time.Microsecond, 2*time.Millisecond)
	o.Wait = b.Duration("time of a request besides", time.Millisecond, 20*time.Millisecond)
	takes := o.Work + o.Wait
	l := o.LoadAt(b, b.LogUniform("use of the lock", 0.5, 4)/takes.Seconds(), net.RTT, 0)
	l.Conns = max(l.Conns, b.Int("clients at least", 6, 48)) // who is alone waits for nobody
	o.Workers = max(b.Int("workers", 8, 48), int(2.5*l.Rate*takes.Seconds())+2)
	server := anyserver.Start(b, net.Server, "match-engine", net.At(8080), o)
	on, off := server.Tells("spin 1", "spin 0")
	b.Switch("spin-in-requests", on, off)
	spinners := b.Int("threads that spin", 4, 48)
	on, off = server.Tells(fmt.Sprint("stuck ", spinners), "stuck 0")
	b.Switch("never-given-back", on, off)
	if b.Fault.Name == "never-given-back" {
		b.Amount("%d threads spin", spinners)
	} else {
		b.Amount("a spinning lock held for %v in each of %.0f requests per second", takes, l.Rate)
	}
	b.Ask(net.Client, "trader", net.At(8080), l)
}
