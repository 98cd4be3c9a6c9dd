package drawn

import (
	"fmt"
	"runtime"
	"time"

	"snag/lab"
)

// noise is what else the machine does in a draw, in both runs: other programs' use of the
// CPUs, and a healthy service of others.
func noise(b *Bench) {
	if share := b.Uniform("CPU used by others", -0.3, 0.6); share > 0.01 {
		slice := b.Duration("others' slices", 200*time.Microsecond, 20*time.Millisecond)
		b.Actor("", "batch", "burner", []string{"--threads", fmt.Sprint(runtime.NumCPU()), "--share", fmt.Sprintf("%.3f", share), "--slice", slice.String()})
	}
	if b.Chance("healthy neighbour", 0.4) {
		neighbour(b)
	}
}

// neighbourAt is the port of the neighbour.
const neighbourAt = ":7783"

// neighbour is a service of others with clients of its own, whose figures nobody asks for.
func neighbour(b *Bench) {
	ns := b.Netns("neighbour")
	server := b.Actor(ns, "mail-filter", "rr-server", []string{"--listen", "127.0.0.1" + neighbourAt, "--wait", b.Duration("neighbour's answers take", time.Millisecond, 50*time.Millisecond).String()})
	b.AwaitPrinted(server, "ready")
	conns := b.Int("neighbour's clients", 1, 16)
	client := b.Actor(ns, "mail-router", "rr-client", []string{"--to", "127.0.0.1" + neighbourAt, "--conns", fmt.Sprint(conns), "--every", b.Duration("neighbour's clients ask every", 50*time.Millisecond, time.Second).String()}, lab.MayEnd())
	b.AwaitPrinted(client, "ready")
}
