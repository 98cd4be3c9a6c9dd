package qdiscdrop

import (
	"fmt"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a shaper that lets through less than is sent, or holds less
// than comes at once.
var Family = drawn.Family{
	Name: "qdisc-drop", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.TC},
	Faults: []drawn.Fault{
		{Name: "rate-too-low", Suspects: []string{"qdisc-drop"}, Subject: `eth0`, Also: []string{"packet-loss"}, Account: "loss"},
		{Name: "queue-too-short", Suspects: []string{"qdisc-drop"}, Subject: `eth0`, Also: []string{"packet-loss"}, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	t := b.Traffic(net, drawn.Datagrams, drawn.Datagrams, drawn.Uploads, drawn.Bodies)
	rate := t.Wire * b.Uniform("rate of the shaper, of what is sent", 0.3, 0.98)
	limit := b.Int("bytes that may wait", 3000, 60000)
	if b.Fault.Name == "queue-too-short" {
		rate = t.Wire * b.LogUniform("rate of the shaper, times what is sent", 1.2, 4)
		limit = b.Int("bytes that may wait in a short queue", 1600, 6000)
	}
	shape := func(rate float64, limit int) {
		b.Command(net.Client, "tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", fmt.Sprintf("%.0fbit", 8*rate), "burst", "3kb", "limit", fmt.Sprint(limit))
	}
	// A shaper is there when all is well too.
	on, off := func() { shape(rate, limit) }, func() { shape(max(12e6, 20*t.Wire), 4<<20) }
	off()
	b.Switch("rate-too-low", on, off)
	b.Switch("queue-too-short", on, off)
	b.Amount("%.0f kB/s, a queue of %d bytes, for %.0f kB/s", rate/1e3, limit, t.Wire/1e3)
}
