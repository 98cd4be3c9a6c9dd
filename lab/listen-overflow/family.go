package listenoverflow

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: an accept queue that is shorter than its clients' bursts.
var Family = drawn.Family{
	Name: "listen-overflow", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Faults: []drawn.Fault{
		{Name: "short-backlog", Suspects: []string{"listen-overflow"}, Subject: `:8080|playlist-srv`, Account: "accept queue", Whole: true},
		{Name: "somaxconn", Suspects: []string{"listen-overflow"}, Subject: `:8080|playlist-srv|somaxconn`, Account: "accept queue", Whole: true},
		{Name: "bursts", Suspects: []string{"listen-overflow"}, Subject: `:8080|playlist-srv`, Account: "accept queue"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	work := b.Duration("a connection takes", time.Millisecond, 20*time.Millisecond)
	rate := max(15, min(250, b.LogUniform("share of the capacity", 0.05, 0.4)/(work.Seconds()+0.0002)))
	burst := min(b.Int("clients at once", 8, 150), int(rate))
	short := max(1, int(float64(burst)*b.LogUniform("backlog, of a burst", 0.03, 0.7)))
	backlog, most, many, few := 1024, 4096, burst, burst
	if b.Fault.Name == "bursts" { // the backlog is short when all is well too
		backlog, few = short, 1
	}
	switch {
	case b.Built("short-backlog"):
		backlog = short
	case b.Built("somaxconn"):
		most = short
	}
	b.Amount("a queue of %d for bursts of %d, %.0f per second", min(backlog, most), burst, rate)
	b.Command(net.Server, "sysctl", "-qw", fmt.Sprintf("net.core.somaxconn=%d", most))
	server := b.Actor(net.Server, "playlist-srv", "slow-acceptor", []string{"--listen", net.At(8080), "--backlog", fmt.Sprint(backlog), "--work", work.String()})
	b.AwaitPrinted(server, "ready")
	client := b.Actor(net.Client, "playlist-cli", "caller", []string{"--to", net.At(8080), "--rate", fmt.Sprint(rate), "--burst", fmt.Sprint(few),
		"--bursty", fmt.Sprint(many), "--clients", "512", "--timeout", "30s", "--log", b.ClientLog("playlist")})
	flip := func() { b.Signal(client, syscall.SIGUSR1) }
	b.Switch("bursts", flip, flip)
}
