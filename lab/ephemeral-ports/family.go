package ephemeralports

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a connection for each request, and too few ports for those
// that are in TIME-WAIT.
var Family = drawn.Family{
	Name: "ephemeral-ports", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Faults: []drawn.Fault{
		{Name: "narrow-range", Suspects: []string{"ephemeral-ports"}, Subject: `:3306|report-app|ip_local_port_range`, Account: "errors"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	takes := b.Duration("answers take", 100*time.Microsecond, 50*time.Millisecond)
	l := b.LoadOf(1000)
	l.Size = min(l.Size, 4096)
	l = l.Within(2*net.RTT + takes)
	l.Fresh = true
	// Each port is kept for 60 s (TCP_TIMEWAIT_LEN).
	ports := max(4, int(l.Rate*b.LogUniform("seconds that the ports last", 0.1, 10)))
	server := b.Actor(net.Server, "db-server", "rr-server", []string{"--listen", net.At(3306), "--wait", takes.String(), "--size", fmt.Sprint(l.Size)})
	b.AwaitPrinted(server, "ready")
	ports4 := func(from, to int) func() {
		return func() {
			b.Command(net.Client, "sysctl", "-qw", fmt.Sprintf("net.ipv4.ip_local_port_range=%d %d", from, to))
		}
	}
	wide := ports4(32768, 60999)
	wide()
	b.Ask(net.Client, "report-app", net.At(3306), l)
	b.Switch("narrow-range", ports4(10000, 10000+ports-1), wide)
	b.Amount("%d ports for %.0f connections per second", ports, l.Rate)
}
