package upstreamrefused

import (
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a service, in any language, that asks a backend for each of
// its requests: the backend has ended, or is killed again and again, or the service was
// started with a port that nobody serves.
var Family = drawn.Family{
	Name: "upstream-refused", Kind: drawn.Connections, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{
		fault(drawn.Fault{Name: "ended", Suspects: []string{"upstream-refused", "service-killed"}, Subject: `stock-db|:5432`}),
		fault(drawn.Fault{Name: "killed", Suspects: []string{"upstream-refused", "service-killed"}, Subject: `stock-db|supervisor|:5432`}),
		fault(drawn.Fault{Name: "wrong-port", Suspects: []string{"upstream-refused"}, Subject: `:5439|` + anyserver.Subject("shop-server", ":8080"), Whole: true}),
	},
	Build: buildFamily,
}

func fault(f drawn.Fault) drawn.Fault {
	f.Account = "errors"
	f.Also = []string{"error-answers", "peer-reset"} // the connections of requests that fail are closed
	return f
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	takes := b.Duration("backend takes", 200*time.Microsecond, 30*time.Millisecond)
	ns, at := anyserver.Place(b, net.Server, anyserver.Neighbour, anyserver.Here)
	args := []string{"--listen", at, "--wait", takes.String()}
	var db *lab.Process
	if b.Fault.Name == "killed" {
		db = b.SupervisedActor("killed", ns, "stock-db", 300*time.Millisecond, 4*time.Second, "rr-server", append(args, "--comm", "stock-db"))
	} else {
		start := func() { db = b.Actor(ns, "stock-db", "rr-server", args) }
		start()
		b.Switch("ended", func() { b.Stop(db) }, start)
	}
	b.AwaitPrinted(db, "ready")

	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server"), Workers: b.Int("workers", 3, 64), Call: at, Needs: true}
	o.Work = b.Duration("CPU time of a request", 20*time.Microsecond, 2*time.Millisecond)
	o.Most = 400 // two services have to share the CPUs
	if b.Chance("the service has a pool", 0.5) {
		o.Pool = o.Workers
	}
	if b.Built("wrong-port") {
		o.Call = at[:len(at)-1] + "9"
		b.Amount("the service asks %s, and its backend is at %s", o.Call, at)
	}
	l := o.LoadOf(b, net.RTT, takes+500*time.Microsecond)
	anyserver.Start(b, net.Server, "shop-server", net.At(8080), o)
	if b.Fault.Name == "ended" {
		b.Amount("nobody serves %s, which %.0f requests per second need", at, l.Rate)
	}
	b.Ask(net.Client, "shop-client", net.At(8080), l)
}
