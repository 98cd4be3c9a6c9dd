package processstopped

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: somebody stops a service, in any language, once, or again and
// again for a while.
var Family = drawn.Family{
	Name: "process-stopped", Kind: drawn.Inside, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{
		{Name: "stopped", Suspects: []string{"process-stopped"}, Subject: subject, Account: "stopped"},
		{Name: "stopped-again-and-again", Suspects: []string{"process-stopped"}, Subject: subject, Account: "stopped"},
	},
	Build: buildFamily,
}

var subject = `backup-script|` + anyserver.Subject("media-index", ":9000")

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Ordinary(b, "server")
	l := o.LoadOf(b, net.RTT, 0)
	server := anyserver.Start(b, net.Server, "media-index", net.At(9000), o)
	stop, run := time.Minute, time.Second
	if b.Fault.Name == "stopped-again-and-again" {
		stop, run = b.Duration("stopped for", 20*time.Millisecond, 2*time.Second), b.Duration("goes on for", 50*time.Millisecond, 3*time.Second)
	}
	script := b.Actor("", "backup-script", "stopper", []string{"--pid", fmt.Sprint(server.PID), "--stop", stop.String(), "--run", run.String(), "--switched"})
	b.AwaitPrinted(script, "ready")
	turn := func() { b.Signal(script, syscall.SIGUSR1) }
	b.Switch("stopped", turn, turn)
	b.Switch("stopped-again-and-again", turn, turn)
	b.Amount("stopped for %v at a time, %v between", stop, run)
	b.Ask(net.Client, "media-player", net.At(9000), l)
}
