package sessionlock

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a store whose sessions hold its one lock from a request to a
// later one: a report does so for long, or many sessions of an import do it in turns.
// Readers do not need the lock, writers do.
var Family = drawn.Family{
	Name: "session-lock", Kind: drawn.Inside, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "report", Suspects: []string{"session-lock"}, Subject: `stock-db|:5432|stock-report`, Also: []string{"lock-convoy", "slow-dependency"}, Account: "lock"},
		{Name: "import", Suspects: []string{"session-lock"}, Subject: `stock-db|:5432|stock-import`, Also: []string{"lock-convoy", "slow-dependency"}, Account: "lock"},
	},
	Build: buildFamily,
}

// writes is the first byte of a write: see lab/actor's session-db.
const writes = "2"

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	takes := b.Duration("answers take", 10*time.Microsecond, 20*time.Millisecond)
	writers := b.LoadOf(800).Within(net.RTT + takes)
	readers := writers
	share := b.LogUniform("share of writes", 0.1, 1)
	writers.Rate, writers.Conns = share*writers.Rate, max(1, int(share*float64(writers.Conns)))
	readers.Rate, readers.Conns = readers.Rate-writers.Rate, readers.Conns-writers.Conns
	server := b.Actor(net.Server, "stock-db", "session-db", []string{"--listen", net.At(5432), "--size", fmt.Sprint(writers.Size), "--wait", takes.String()})
	b.AwaitPrinted(server, "ready")

	name, holders := "stock-report", 1
	holds, pause := b.Duration("report's session holds the lock for", 100*time.Millisecond, 4*time.Second), b.Duration("report pauses for", 50*time.Millisecond, 2*time.Second)
	if b.Fault.Name == "import" {
		name, holders = "stock-import", b.Int("import's sessions", 2, 24)
		holds = b.Duration("each of the import's holds it for", 5*time.Millisecond, 200*time.Millisecond)
		// The lock would be busy for so much of the time if each got it at once.
		pause = time.Duration(float64(holds) * float64(holders) / b.LogUniform("use of the lock", 0.7, 4))
	}
	session := b.Actor(net.Client, name, "session-client", []string{"--to", net.At(5432), "--size", fmt.Sprint(writers.Size), "--switched",
		"--holders", fmt.Sprint(holders), "--holds", holds.String(), "--pause", pause.String()})
	b.AwaitPrinted(session, "ready")
	turn := func() { b.Signal(session, syscall.SIGUSR1) }
	b.Switch("report", turn, turn)
	b.Switch("import", turn, turn)
	b.Amount("%d sessions hold the lock for %v each, again after %v; %.0f writes per second need it", holders, holds, pause, writers.Rate)
	b.Ask(net.Client, "shop-writers", net.At(5432), writers, "--first", writes)
	if readers.Conns > 0 && readers.Rate > 0 {
		b.Ask(net.Client, "shop-readers", net.At(5432), readers)
	}
}
