package unixbacklog

import (
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a UNIX socket whose accept queue is shorter than its clients'
// bursts. The kernel refuses at once who does not fit; nobody comes back.
var Family = drawn.Family{
	Name: "unix-backlog", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Faults: []drawn.Fault{
		{Name: "short-backlog", Suspects: []string{"unix-backlog"}, Subject: subject, Account: "errors", Whole: true},
		{Name: "somaxconn", Suspects: []string{"unix-backlog"}, Subject: subject + `|somaxconn`, Account: "errors", Whole: true},
		{Name: "bursts", Suspects: []string{"unix-backlog"}, Subject: subject, Account: "errors"},
	},
	Build: buildFamily,
}

const subject = `app\.sock|app-pool`

func buildFamily(b *drawn.Bench) {
	ns, at := b.Netns("app"), filepath.Join(b.Dir(), "app.sock")
	work := b.Duration("a connection takes", 200*time.Microsecond, 20*time.Millisecond)
	rate := max(15, min(600, b.LogUniform("share of the capacity", 0.05, 0.4)/(work.Seconds()+0.0002)))
	burst := min(b.Int("clients at once", 8, 200), int(rate))
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
	b.Command(ns, "sysctl", "-qw", fmt.Sprintf("net.core.somaxconn=%d", most))
	pool := b.Actor(ns, "app-pool", "slow-acceptor", []string{"--listen", at, "--backlog", fmt.Sprint(backlog), "--work", work.String()})
	b.AwaitPrinted(pool, "ready")
	gateway := b.Actor(ns, "gateway", "caller", []string{"--to", at, "--rate", fmt.Sprint(rate), "--burst", fmt.Sprint(few),
		"--bursty", fmt.Sprint(many), "--clients", "512", "--timeout", "30s", "--log", b.ClientLog("gateway")})
	flip := func() { b.Signal(gateway, syscall.SIGUSR1) }
	b.Switch("bursts", flip, flip)
}
