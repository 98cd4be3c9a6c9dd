package slowdependency

import (
	"fmt"
	"time"

	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a service each of whose requests asks another one, on the
// same host or on a neighbour, over TCP or a UNIX socket, in any two languages.
var Family = drawn.Family{
	Name: "slow-dependency", Kind: drawn.Inside, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{
		fault("slow-backend"), fault("backend-hangs"), fault("backend-convoy"),
	},
	Build: buildFamily,
}

func fault(name string) drawn.Fault {
	f := drawn.Fault{
		Name: name, Suspects: []string{"slow-dependency"}, Account: "call",
		Subject: `stock-db|:5432|database\.sock|` + anyserver.Subject("shop-server", ":8080"),
		Also:    []string{"worker-queue"}, // its workers all wait for the other
	}
	if name == "backend-convoy" {
		f.Suspects = []string{"lock-convoy", "slow-dependency"}
	}
	return f
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	back := anyserver.Options{Language: anyserver.LanguageOf(b, "backend"), Size: 128, Workers: 96}
	if b.Fault.Name == "backend-convoy" {
		back.Language = anyserver.LanguageOf(b, "backend with locks", anyserver.Can("lock")...)
	}
	back.Work = b.Duration("backend's CPU time", 20*time.Microsecond, 300*time.Microsecond)
	back.Wait = b.Duration("backend's time besides", 500*time.Microsecond, 30*time.Millisecond)
	ns, at := anyserver.Place(b, net.Server)
	backend := anyserver.Start(b, ns, "stock-db", at, back)

	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server"), Workers: b.Int("server's workers", 3, 64), Call: at}
	o.Work = b.Duration("CPU time of a request", 20*time.Microsecond, time.Millisecond)
	besides := back.Work + back.Wait + 500*time.Microsecond
	o.Most = 400 // two servers have to share the CPUs
	l := o.LoadOf(b, net.RTT, besides)
	o.Workers = max(o.Workers, int(2.5*l.Rate*(besides+o.Work).Seconds()))
	anyserver.Start(b, net.Server, "shop-server", net.At(8080), o)

	slow := max(3*back.Wait/2, b.Duration("slow backend takes", 20*time.Millisecond, 2*time.Second))
	on, off := backend.Tells(fmt.Sprint("wait ", slow.Microseconds()), fmt.Sprint("wait ", back.Wait.Microseconds()))
	b.Switch("slow-backend", on, off)
	on, off = backend.Tells("hang 1", "hang 0")
	b.Switch("backend-hangs", on, off)
	held, every := b.Duration("backend's lock is held for", 50*time.Millisecond, time.Second), b.Duration("every", 100*time.Millisecond, time.Second)
	b.Switch("backend-convoy", func() { backend.Tell("hold %d %d s", held.Microseconds(), every.Microseconds()) }, func() { backend.Tell("hold 0") })
	switch b.Fault.Name {
	case "slow-backend":
		b.Amount("the backend takes %v instead of %v", slow, back.Wait)
	case "backend-hangs":
		b.Amount("the backend answers nothing")
	default:
		b.Amount("housekeeping holds the backend's lock for %v every %v", held, held+every)
	}
	b.Ask(net.Client, "shop-client", net.At(8080), l)
}
