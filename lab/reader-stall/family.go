package readerstall

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab/broadcast"
	"snag/lab/drawn"
	"snag/lab/origin"
)

// Family draws the incident: a recorder that does not read its stream now and then, of its
// own or because it is stopped, among viewers who do.
var Family = drawn.Family{
	Name: "reader-stall", Kind: drawn.Streams, Origin: drawn.Lab, Needs: broadcast.Tools,
	Faults: []drawn.Fault{
		{Name: "does-not-read", Suspects: []string{"reader-stall"}, Subject: `recorder`, Account: "sleep", Place: drawn.AtReader},
		{Name: "stopped", Suspects: []string{"process-stopped", "reader-stall"}, Subject: `recorder`, Account: "stopped", Place: drawn.AtReader},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	w := broadcast.NewShow(b, broadcast.Kind{})
	stop := b.Duration("does not read for", 300*time.Millisecond, 6*time.Second)
	read := b.Duration("reads for", 300*time.Millisecond, 3*time.Second)
	recorder := b.Actor(w.Viewer, "recorder", "edge-relay", []string{"--to", broadcast.Deliver, "--app", origin.App, "--stream", origin.Stream,
		"--clients", fmt.Sprint(b.Int("streams that it reads", 1, 8)), "--read", read.String(), "--stop", stop.String(), "--reads", "--log", b.ClientLog("recorder")})
	b.AwaitPrinted(recorder, "ready")
	if b.Fault.Name == "does-not-read" {
		b.Amount("does not read for %v after each %v", stop, read)
	}
	turn := func() { b.Signal(recorder, syscall.SIGUSR2) }
	b.Switch("does-not-read", turn, turn)
	b.SwitchStops("stopped", recorder.PID, 500*time.Millisecond, 6*time.Second)
	w.View()
}
