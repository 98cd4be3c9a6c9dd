package reconnectstorm

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: clients that are refused come back at once, and take the time
// that a server has for others.
var Family = drawn.Family{
	Name: "reconnect-storm", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "no-pause", Suspects: []string{"reconnect-storm"}, Subject: `playlist-srv|:8080|edge-relay`, Also: []string{"listen-overflow"}, Account: "accept queue"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	work := b.Duration("a connection takes", time.Millisecond, 10*time.Millisecond)
	rate := max(15, min(250, b.LogUniform("share of the capacity", 0.05, 0.4)/(work.Seconds()+0.0002)))
	edges, pause := b.Int("clients that are refused", 2, 200), b.Duration("they come back after", time.Millisecond, 200*time.Millisecond)
	backlog := b.Int("backlog", 64, 1024)
	calm := time.Duration(float64(edges) * 10 / (0.5/work.Seconds() + 1) * float64(time.Second))
	server := b.Actor(net.Server, "playlist-srv", "slow-acceptor", []string{"--listen", net.At(8080), "--backlog", fmt.Sprint(backlog), "--work", work.String()})
	b.AwaitPrinted(server, "ready")
	b.Actor(net.Client, "player", "caller", []string{"--to", net.At(8080), "--rate", fmt.Sprint(rate), "--clients", "512", "--timeout", "10s", "--log", b.ClientLog("player")})
	storm := b.Actor(net.Client, "edge-relay", "reconnecter", []string{"--to", net.At(8080), "--clients", fmt.Sprint(edges), "--pause", pause.String(), "--calm", max(time.Second, calm).String()})
	flip := func() { b.Signal(storm, syscall.SIGUSR1) }
	b.Switch("no-pause", flip, flip)
	b.Amount("%d clients come back %v after each refusal", edges, pause)
}
