package uplinkthrottledlayers

import (
	"fmt"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/chain"
	"snag/lab/drawn"
)

// Family draws the incident: the link between two of three servers carries a part of the
// stream.
var Family = drawn.Family{
	Name: "uplink-throttled-layers", Kind: drawn.Streams, Origin: drawn.Lab, Needs: append([]lab.Tool{lab.TC}, broadcast.Tools...),
	Faults: []drawn.Fault{{
		Name: "shaper", Suspects: []string{"uplink-throttled"}, Subject: `10\.88\.3\.1|tun0`, Also: []string{"bufferbloat", "qdisc-drop"}, Account: "queue",
	}},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	c := chain.Drawn(b)
	part := b.Uniform("part of the stream that is carried", 0.1, 0.75)
	rate := fmt.Sprintf("%.0fkbit", part*float64(c.Kbit))
	b.Amount("%s from origin to edge, %d kbit/s needed", rate, c.Kbit)
	b.Switch("shaper", func() { c.Throttle(rate) }, func() { b.Command(c.Netns("origin"), "tc", "qdisc", "del", "dev", "tun0", "root") })
}
