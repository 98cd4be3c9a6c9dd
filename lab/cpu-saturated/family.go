package cpusaturated

import (
	"fmt"
	"runtime"
	"syscall"
	"time"

	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a batch job with several threads for each CPU begins beside a
// service that computes, in any language.
var Family = drawn.Family{
	Name: "cpu-saturated", Kind: drawn.Host, Origin: drawn.Lab, Needs: anyserver.Needs, Alone: true,
	Faults: []drawn.Fault{{
		Name: "batch-job", Suspects: []string{"cpu-saturated"}, Subject: `report-batch`, Also: []string{"run-queue-wait"}, Account: "cpu",
	}},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server"), Workers: b.Int("workers", 3, 32)}
	o.Work = b.Duration("CPU time of a request", 300*time.Microsecond, 6*time.Millisecond)
	if b.Chance("requests wait", 0.4) {
		o.Wait = b.Duration("time of a request besides", time.Millisecond, 40*time.Millisecond)
	}
	l := o.LoadOf(b, net.RTT, 0)
	anyserver.Start(b, net.Server, "api-server", net.At(8081), o)
	threads := runtime.NumCPU() * b.Int("batch's threads for each CPU", 3, 24)
	batch := b.Actor("", "report-batch", "burner", []string{"--threads", fmt.Sprint(threads), "--switched"})
	b.AwaitPrinted(batch, "ready")
	turn := func() { b.Signal(batch, syscall.SIGUSR1) }
	b.Switch("batch-job", turn, turn)
	b.Amount("%d threads that compute, on %d CPUs", threads, runtime.NumCPU())
	b.Ask(net.Client, "api-client", net.At(8081), l)
}
