package udpportclosed

import (
	"syscall"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a receiver that closes its port, or is killed, while its
// senders go on.
var Family = drawn.Family{
	Name: "udp-port-closed", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "closed", Suspects: []string{"udp-port-closed"}, Subject: `:5004|media-`, Account: "loss"},
		{Name: "killed", Suspects: []string{"udp-port-closed", "service-killed"}, Subject: `:5004|media-`, Account: "loss", Whole: true},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	t := b.Traffic(b.Net(), drawn.Datagrams)
	flip := func() { b.Signal(t.Server, syscall.SIGUSR2) }
	b.Switch("closed", flip, flip)
	b.Switch("killed", func() { b.Stop(t.Server) }, nil)
	b.Amount("%.0f datagrams per second come to a closed port", t.Rate)
}
