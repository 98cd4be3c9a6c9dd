package poolexhausted

import (
	"fmt"
	"math"
	"time"

	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a service, in any language, whose requests share a pool of
// connections to a database: the pool is too small, a job keeps most of it, or the database
// takes so long that it is too small.
var Family = drawn.Family{
	Name: "pool-exhausted", Kind: drawn.Inside, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{
		fault("small-pool", "in line"), fault("kept-connections", "in line"),
		// Its answer takes longer, for those in line before it too: all of it is waiting for that call.
		fault("slower-database", "call", "slow-dependency"),
	},
	Build: buildFamily,
}

func fault(name, account string, or ...string) drawn.Fault {
	return drawn.Fault{
		Name: name, Suspects: append(or, "pool-exhausted"), Account: account,
		Subject: `stock-db|:5432|database\.sock|` + anyserver.Subject("shop-server", ":8080"),
		Also:    []string{"worker-queue"}, // its workers all wait for the pool
	}
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	back := anyserver.Options{Language: anyserver.LanguageOf(b, "database"), Size: 128, Workers: 128}
	back.Work = b.Duration("database's CPU time", 20*time.Microsecond, 300*time.Microsecond)
	back.Wait = b.Duration("database's time besides", 8*time.Millisecond, 80*time.Millisecond)
	ns, at := anyserver.Place(b, net.Server)
	database := anyserver.Start(b, ns, "stock-db", at, back)

	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server"), Workers: b.Int("workers", 8, 128), Call: at}
	o.Work = b.Duration("CPU time of a request", 20*time.Microsecond, time.Millisecond)
	o.Most = 300 // two servers have to share the CPUs
	besides := back.Work + back.Wait + 500*time.Microsecond
	l := o.LoadOf(b, net.RTT, besides)
	l = o.LoadAt(b, max(l.Rate, 2/besides.Seconds()), net.RTT, besides) // of fewer calls at once no pool is too small
	// What is called at once on average (Little's law), and how much more than the pool that is.
	needed := l.Rate * besides.Seconds()
	beyond := b.LogUniform("demand, of the pool", 0.8, 4)
	few := max(1, int(needed/beyond))
	o.Pool = 2 + int(math.Ceil(needed*b.LogUniform("pool, of what is needed", 2, 5)))
	if b.Fault.Name == "slower-database" {
		beyond = max(beyond, drawn.Overload)
		l.Conns = max(l.Conns, 2*o.Pool)
	}
	o.Workers = max(o.Workers, 2*o.Pool)
	server := anyserver.Start(b, net.Server, "shop-server", net.At(8080), o)

	on, off := server.Tells(fmt.Sprint("pool ", few), fmt.Sprint("pool ", o.Pool))
	b.Switch("small-pool", on, off)
	on, off = server.Tells(fmt.Sprint("keep ", o.Pool-few), "keep 0")
	b.Switch("kept-connections", on, off)
	slow := time.Duration(beyond * float64(o.Pool) / l.Rate * float64(time.Second))
	on, off = database.Tells(fmt.Sprint("wait ", slow.Microseconds()), fmt.Sprint("wait ", back.Wait.Microseconds()))
	b.Switch("slower-database", on, off)
	switch b.Fault.Name {
	case "small-pool":
		b.Amount("%d connections for %.1f calls at once", few, needed)
	case "kept-connections":
		b.Amount("a job keeps %d of %d connections, and %.1f calls are made at once", o.Pool-few, o.Pool, needed)
	default:
		b.Amount("the database takes %v instead of %v: %.1f times what %d connections can do", slow, back.Wait, beyond, o.Pool)
	}
	b.Ask(net.Client, "shop-client", net.At(8080), l)
}
