package bufferbloat

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a bulk transfer fills the deep queue that requests share.
var Family = drawn.Family{
	Name: "bufferbloat", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.TC, lab.Sysctl},
	Faults: []drawn.Fault{
		{Name: "upload", Suspects: []string{"bufferbloat"}, Subject: `wan0|backup|:873|` + drawn.TrafficSubject, Account: "queue"},
		{Name: "slower-line", Suspects: []string{"bufferbloat"}, Subject: `wan0|backup|:873|` + drawn.TrafficSubject, Account: "queue"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.RouterNet(false)
	line := b.LogUniform("line, bytes per second", 200e3, 4e6)
	deep := b.Duration("the queue holds", 60*time.Millisecond, 2*time.Second)
	limit := max(30000, int(line*deep.Seconds()))
	share := b.LogUniform("requests' share of the line", 0.01, 0.2)
	bulk := line * 4
	if b.Fault.Name == "slower-line" { // the upload goes on all the time, and fits the line
		bulk = line * b.Uniform("upload, of the line", 0.2, 0.5)
	}
	slower := line / b.LogUniform("slower by", 3, 10)
	shape := func(rate float64) func() {
		return func() {
			b.Command(net.Router, "tc", "qdisc", "replace", "dev", "wan0", "root", "tbf", "rate", fmt.Sprintf("%.0fbit", 8*rate), "burst", "5kb", "limit", fmt.Sprint(limit))
		}
	}
	shape(line)()
	sink := b.Actor(net.Server, "backup-server", "tcp-sink", []string{"--listen", net.At(873)})
	b.AwaitPrinted(sink, "ready")
	backup := b.Actor(net.Client, "backup", "tcp-source", []string{"--to", net.At(873), "--rate", fmt.Sprint(bulk), "--flows", fmt.Sprint(b.Int("upload's connections", 1, 16)), "--idle"})
	b.AwaitPrinted(backup, "ready")
	l := b.LoadOf(500)
	l.Rate = max(15, min(l.Rate, share*line/300))
	l.Size = max(16, min(1000, int(share*line/l.Rate)))
	takes := b.Duration("answers take", 10*time.Microsecond, 10*time.Millisecond)
	l = l.Within(net.RTT + takes)
	app := b.Actor(net.Server, "app-server", "rr-server", []string{"--listen", net.At(8080), "--wait", takes.String(), "--size", fmt.Sprint(l.Size)})
	b.AwaitPrinted(app, "ready")
	b.Ask(net.Client, "app-client", net.At(8080), l)
	flip := func() { b.Signal(backup, syscall.SIGUSR1) }
	if b.Fault.Name == "slower-line" {
		flip()
	}
	b.Switch("upload", flip, flip)
	b.Switch("slower-line", shape(slower), shape(line))
	b.Amount("a queue of %d bytes before a line of %.0f bytes per second", limit, map[string]float64{"upload": line, "slower-line": slower}[b.Fault.Name])
}
