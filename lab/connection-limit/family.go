package connectionlimit

import (
	"fmt"
	"math"
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a server, in any language, that has as many clients as it may
// and refuses the others, as several servers do it: the limit is lower than what clients
// need, from the start or since it was changed, or another program has most connections.
var Family = drawn.Family{
	Name: "connection-limit", Kind: drawn.Connections, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{
		fault("too-low", true), fault("lowered", false), fault("leaky-app", false),
	},
	Build: buildFamily,
}

func fault(name string, whole bool) drawn.Fault {
	return drawn.Fault{
		Name: name, Suspects: []string{"connection-limit"}, Account: "errors", Whole: whole,
		Subject: `leaky-app|` + anyserver.Subject("session-store", ":6380"),
		Also:    []string{"error-answers", "peer-reset"}, // a server that closes with a request unread resets
	}
}

// refusals are what Redis, memcached and vsftpd say; others close at once.
var refusals = []string{"-ERR max number of clients reached\r\n", "ERROR Too many open connections\r\n", "421 There are too many connected users, please try later.\r\n", ""}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Ordinary(b, "server")
	l := o.LoadOf(b, net.RTT, 0)
	share := b.LogUniform("limit, of what is needed", 0.1, 0.95)
	needed := 0.0 // connections at a time
	// Who has a connection keeps it: a limit that comes later is met by new ones.
	if l.Fresh = b.Fault.Name != "too-low"; l.Fresh {
		o.Wait = max(o.Wait, time.Duration(3/l.Rate*float64(time.Second)))
		o.Workers = max(o.Workers, int(math.Ceil(2.5*l.Rate*(o.Work+o.Wait).Seconds())))
		l = o.LoadAt(b, l.Rate, net.RTT, 0)
		l.Fresh = true
		needed = l.Rate * (2*net.RTT + o.Work + o.Wait).Seconds() // Little's law
	} else {
		l.Conns = max(l.Conns, 4)
		needed = float64(l.Conns)
	}
	low := max(1, int(share*needed))
	l.Size = max(l.Size, 64) // a refusal is shorter than an answer
	o.Size = l.Size
	o.Refusal = drawn.Pick(b.Draw, "refuses with", refusals...)
	limit := max(b.Int("limit", 100, 300), 2*l.Conns)
	o.Limit = limit
	if b.Built("too-low") {
		o.Limit = low
	}
	server := anyserver.Start(b, net.Server, "session-store", net.At(6380), o)
	on, off := server.Tells(fmt.Sprint("limit ", low), fmt.Sprint("limit ", limit))
	b.Switch("lowered", on, off)
	leaked := int(float64(limit) * b.Uniform("connections of the leaky one, of the limit", 0.95, 1.3))
	var app *lab.Process
	b.Switch("leaky-app", func() {
		app = b.Actor(net.Server, "leaky-app", "holder", []string{"--to", net.At(6380), "--connections", fmt.Sprint(leaked), "--again", "300ms"}, lab.MayEnd())
	}, func() { b.Stop(app) })
	if b.Fault.Name == "leaky-app" {
		b.Amount("another program keeps %d connections of %d", leaked, limit)
	} else {
		b.Amount("%d connections may be open, and %.1f are needed", low, needed)
	}
	b.Ask(net.Client, "web-workers", net.At(6380), l)
}
